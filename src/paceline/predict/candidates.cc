// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/predict/advise.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

/// The last topology connects ranks on hosts, and has no variant that connects hosts.
constexpr std::array<std::string_view, 4> kAdvisedTopologies{"one-peer-exp", "exp", "ring",
                                                             "inner-outer-exp"};

bool has_option(const strategies::RowInfo& row, std::string_view key) {
  return std::ranges::any_of(row.options, [key](const auto& option) { return option.key == key; });
}

bool has_buckets(const strategies::RowInfo& row) {
  return std::ranges::any_of(row.options, [](const strategies::OptionInfo& option) {
    return option.fallback == "--bucket-mb";
  });
}

class Candidates {
 public:
  explicit Candidates(const AdviseRequest& request) : request_(request) {}

  /// Adds a schedule or whole strategy with each of its sizes; `rest` is appended to its text.
  void add(const strategies::RowInfo& row, const std::string& rest) {
    const std::vector<double> one{25};
    for (const double mebibytes : has_buckets(row) ? request_.bucket_mb : one) {
      put(std::string(row.name) + rest, mebibytes);
    }
    if (has_option(row, "partition-mb") && has_option(row, "credit-mb")) {
      for (const double partition : request_.partition_mb) {
        for (const double credit : {partition, 4 * partition}) {
          for (const char* queue : {"tensor", "module"}) {
            put(fmt::format("{}:partition-mb={:g},credit-mb={:g},queue={}{}", row.name, partition,
                            credit, queue, rest),
                one.front());
          }
        }
      }
    }
  }

  /// Adds parameter servers under those schedules for which tables are published.
  void add_servers(const std::string& options) {
    for (const char* schedule : {"bsp", "wfbp", "bytescheduler"}) {
      put(fmt::format("{}+ps{}", schedule, options));
    }
  }

  void add_schedules(const std::string& rest) {
    for (const auto& row : strategies::schedules()) {
      add(row, rest);
    }
  }

  /// Adds a combination, unless the tables forbid it.
  void put(const std::string& text, double bucket_mb = 25) {
    try {
      add_once(all_, strategies::parse_strategy(text, {.bucket_mb = bucket_mb}).text());
    } catch (const UsageError&) {
      return;
    }
  }

  std::vector<std::string> take() { return std::move(all_); }

 private:
  const AdviseRequest& request_;
  std::vector<std::string> all_;
};

}  // namespace

std::vector<std::string> candidates(const AdviseRequest& request, std::size_t hosts) {
  Candidates all(request);
  all.add_schedules("");
  for (const auto& row : strategies::whole_strategies()) {
    if (row.make != nullptr && row.guarantee == strategies::Guarantee::kExact) {
      all.add(row, "");
    }
  }
  const bool several = hosts > 1;
  if (several) {
    all.add_schedules("+hierarchical");
  }
  // Servers hold different shards, so no rank can represent another, and the simulation takes long.
  if (request.job.ranks > 1 && request.job.ranks <= kMostServers) {
    all.add_servers("");
    if (several) {
      all.add_servers(":local=0");
    }
  }
  if (!request.any_update) {
    return all.take();
  }
  for (const auto& codec : strategies::codecs()) {
    if (codec.guarantee == strategies::Guarantee::kRounded) {
      all.add_schedules(fmt::format("+{}", codec.name));
    }
  }
  for (const std::string_view topology : kAdvisedTopologies) {
    for (const char* update : {"atc", "awc"}) {
      all.put(fmt::format("fusion+neighbor-allreduce:topology={}+{}", topology, update));
      if (several && topology != kAdvisedTopologies.back()) {
        all.put(
            fmt::format("fusion+hierarchical-neighbor-allreduce:topology={}+{}", topology, update));
      }
    }
  }
  return all.take();
}

}  // namespace paceline::predict
