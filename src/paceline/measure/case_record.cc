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

void post_result(Bulletin& bulletin,
                 int rank,
                 const RankResult& result,
                 bool one_clock) {
  records::RunRecord part;
  part.ranks = {result.samples};
  part.wire = result.wire;
  part.verified = result.verified;
  part.planned_by = result.planned_by;
  part.warnings = result.warnings;
  bulletin.post(fmt::format("result/{}", rank), records::to_line(part));
  bulletin.post(fmt::format("spans/{}", rank), to_text(result.spans));
  bulletin.post(fmt::format("link/{}", rank),
                to_text(result.linked, one_clock ? 0 : result.lined_up_ns));
}

records::LinkCheck gather_link_check(
    Bulletin& bulletin, const records::Configuration& configuration) {
  std::vector<std::vector<engines::LinkedOperation>> by_rank;
  for (int rank = 0; rank < configuration.ranks; ++rank) {
    by_rank.push_back(linked_operations_from(
        bulletin.read(fmt::format("link/{}", rank), milliseconds(0))));
  }
  return check_link(by_rank, configuration.stretch);
}

records::RunRecord gather_results(Bulletin& bulletin, int ranks) {
  records::RunRecord whole;
  for (int rank = 0; rank < ranks; ++rank) {
    const records::RunRecord part = records::from_line(
        bulletin.read(fmt::format("result/{}", rank), milliseconds(0)));
    whole.ranks.push_back(part.ranks.front());
    merge(part, whole);
  }
  return whole;
}

std::vector<records::Span> gather_spans(Bulletin& bulletin,
                                        int ranks,
                                        std::int64_t shift_ns) {
  std::vector<records::Span> spans;
  for (int rank = 0; rank < ranks; ++rank) {
    for (records::Span& span : spans_from(
             bulletin.read(fmt::format("spans/{}", rank), milliseconds(0)))) {
      span.start_ns += shift_ns;
      spans.push_back(std::move(span));
    }
  }
  return spans;
}

}  // namespace paceline::measure
