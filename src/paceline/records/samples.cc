// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/samples.h"

#include "paceline/stats/summary.h"

namespace paceline::records {
namespace {

std::vector<std::vector<std::int64_t>> samples_of(
    const RunRecord& record, std::vector<std::int64_t> RankSamples::*samples) {
  std::vector<std::vector<std::int64_t>> ranks;
  for (const RankSamples& rank : record.ranks) {
    ranks.push_back(rank.*samples);
  }
  return ranks;
}

}  // namespace

std::vector<std::vector<std::int64_t>> step_ns(const RunRecord& record) {
  return samples_of(record, &RankSamples::step_ns);
}

std::vector<double> pooled_step_s(const RunRecord& record) {
  std::vector<double> seconds;
  for (const RankSamples& rank : record.ranks) {
    for (const std::int64_t ns : rank.step_ns) {
      // Rounded once: the original's formats print every digit.
      seconds.push_back(static_cast<double>(ns) / 1e9);
    }
  }
  return seconds;
}

std::vector<double> slowest_step_s(const RunRecord& record) {
  return stats::slowest_rank_seconds(step_ns(record));
}

std::vector<double> slowest_compute_only_step_s(const RunRecord& record) {
  return stats::slowest_rank_seconds(
      samples_of(record, &RankSamples::compute_only_step_ns));
}

}  // namespace paceline::records
