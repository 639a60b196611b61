// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/case_record.h"

#include <utility>

#include <fmt/format.h>

#include "paceline/measure/link_check.h"
#include "paceline/measure/trace.h"
#include "paceline/records/json.h"

namespace paceline::measure {
namespace {

using std::chrono::milliseconds;

void merge(const records::RunRecord& part, records::RunRecord& whole) {
  if (!whole.wire.measured_per_step ||
      part.wire.measured_per_step.value_or(0) > *whole.wire.measured_per_step) {
    whole.wire = part.wire;
  }
  if (part.planned_by) {  // equal on all ranks
    whole.planned_by = part.planned_by;
  }
  for (const auto& [check, held] : part.verified) {
    const auto [entry, fresh] = whole.verified.emplace(check, held);
    entry->second = entry->second && held;
  }
  whole.warnings.insert(
      whole.warnings.end(), part.warnings.begin(), part.warnings.end());
}

}  // namespace

void post_result(launch::PrefixStore& store,
                 int rank,
                 const RankResult& result,
                 bool one_clock) {
  records::RunRecord part;
  part.ranks = {result.samples};
  part.wire = result.wire;
  part.verified = result.verified;
  part.planned_by = result.planned_by;
  part.warnings = result.warnings;
  store.set(fmt::format("result/{}", rank), records::to_line(part));
  store.set(fmt::format("spans/{}", rank), to_text(result.spans));
  store.set(fmt::format("link/{}", rank),
            to_text(result.linked, one_clock ? 0 : result.started_ns));
}

records::LinkCheck gather_link_check(
    launch::PrefixStore& store, const records::Configuration& configuration) {
  std::vector<std::vector<engines::LinkedOperation>> by_rank;
  for (int rank = 0; rank < configuration.ranks; ++rank) {
    by_rank.push_back(
        linked_operations_from(store.wait(fmt::format("link/{}", rank))));
  }
  return check_link(by_rank, configuration.stretch);
}

records::RunRecord gather_results(launch::PrefixStore& store, int ranks) {
  records::RunRecord whole;
  for (int rank = 0; rank < ranks; ++rank) {
    const records::RunRecord part =
        records::from_line(store.wait(fmt::format("result/{}", rank)));
    whole.ranks.push_back(part.ranks.front());
    merge(part, whole);
  }
  return whole;
}

std::vector<records::Span> gather_spans(launch::PrefixStore& store,
                                        int ranks,
                                        std::int64_t shift_ns) {
  std::vector<records::Span> spans;
  for (int rank = 0; rank < ranks; ++rank) {
    for (records::Span& span :
         spans_from(store.wait(fmt::format("spans/{}", rank)))) {
      span.start_ns += shift_ns;
      spans.push_back(std::move(span));
    }
  }
  return spans;
}

}  // namespace paceline::measure
