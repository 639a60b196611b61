// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/link_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <nlohmann/json.hpp>

#include "paceline/cluster/link_spec.h"
#include "paceline/rank/comm_case.h"

namespace paceline::engines {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LinkedOperationKey, channel, index, members)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LinkedOperation, name, issued_ns, modelled_ns, engine_ns)

}  // namespace paceline::engines

namespace paceline::rank {
namespace {

struct OperationEnds {
  int seen = 0;  // number of members that recorded the operation
  std::int64_t modelled_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t engine_ns = std::numeric_limits<std::int64_t>::min();
};

struct Interval {
  std::int64_t begin = 0, end = 0;
};

// Returns the total time that the intervals cover; time in several of them counts once.
std::int64_t union_length_ns(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  std::int64_t total = 0;
  auto end = std::numeric_limits<std::int64_t>::min();
  for (const Interval& one : intervals) {
    total += std::max<std::int64_t>(0, one.end - std::max(one.begin, end));
    end = std::max(end, one.end);
  }
  return total;
}

}  // namespace

std::shared_ptr<engines::Link> make_link(const cases::Case& c) {
  if (c.link.empty()) {
    return nullptr;
  }
  return std::make_shared<engines::Link>(
      cluster::stretched(cluster::parse_link("--link", c.link), c.stretch));
}

std::string to_text(std::vector<engines::LinkedOperation> operations, std::int64_t origin_ns) {
  for (engines::LinkedOperation& one : operations) {
    one.issued_ns -= origin_ns;
    one.modelled_ns -= origin_ns;
    one.engine_ns -= origin_ns;
  }
  return nlohmann::json(operations).dump();
}

std::vector<engines::LinkedOperation> linked_operations_from(const std::string& text) {
  return nlohmann::json::parse(text).get<std::vector<engines::LinkedOperation>>();
}

records::LinkCheck check_link(const std::vector<std::vector<engines::LinkedOperation>>& by_rank,
                              double stretch) {
  std::map<engines::LinkedOperationKey, OperationEnds> all;
  for (const auto& operations : by_rank) {
    for (const engines::LinkedOperation& one : operations) {
      OperationEnds& ends = all[one.name];
      ++ends.seen;
      ends.modelled_ns = std::max(ends.modelled_ns, one.modelled_ns);
      ends.engine_ns = std::max(ends.engine_ns, one.engine_ns);
    }
  }
  const auto by_stretch = [stretch](std::int64_t ns) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(ns) / stretch));
  };
  records::LinkCheck check;
  std::vector<Interval> overdue;
  for (const auto& [name, ends] : all) {
    if (ends.seen < name.members) {
      continue;  // some members began it before the measured steps and did not record it
    }
    const std::int64_t slack = by_stretch(ends.modelled_ns - ends.engine_ns);
    check.slack_ns = check.operations == 0 ? slack : std::min(check.slack_ns, slack);
    ++check.operations;
    check.late += slack < 0 ? 1 : 0;
    if (ends.engine_ns > ends.modelled_ns) {
      overdue.push_back({ends.modelled_ns, ends.engine_ns});
    }
  }
  check.overdue_ns = by_stretch(union_length_ns(std::move(overdue)));
  return check;
}

bool matches_link_duration(const records::CommRecord& record) {
  const cluster::LinkSpec link = cluster::parse_link("--link", record.link);
  const auto pattern = pattern_of(record.operation);
  const int latencies = pattern ? cluster::latency_count(*pattern, record.ranks) : 1;
  const double modelled_ns = static_cast<double>(latencies * link.latency_ns) +
                             static_cast<double>(record.wire_bytes) * 1e9 / link.bytes_per_s;
  return record.median_ns() <= (1 + records::LinkCheck::kMaxOverdueFraction) * modelled_ns;
}

}  // namespace paceline::rank
