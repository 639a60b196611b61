// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/samples.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

#include "paceline/stats/quantile.h"
#include "paceline/stats/summary.h"

namespace paceline::records {
namespace {

std::vector<std::vector<std::int64_t>> samples_of(const RunRecord& record,
                                                  std::vector<std::int64_t> RankSamples::*samples) {
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

std::vector<double> slowest_step_s(const RunRecord& record) {
  return stats::slowest_rank_seconds(step_ns(record));
}

double mean_step_s(const RunRecord& record) {
  double longest = 0;
  for (const RankSamples& rank : record.ranks) {
    if (rank.step_ns.empty()) {
      continue;
    }
    const auto wall_ns = rank.window_ns > 0 ? rank.window_ns
                                            : std::accumulate(rank.step_ns.begin(),
                                                              rank.step_ns.end(), std::int64_t{0});
    longest = std::max(
        longest, static_cast<double>(wall_ns) / static_cast<double>(rank.step_ns.size()) / 1e9);
  }
  return longest;
}

std::vector<double> slowest_compute_only_step_s(const RunRecord& record) {
  return stats::slowest_rank_seconds(samples_of(record, &RankSamples::compute_only_step_ns));
}

std::vector<double> exposed_s_by_pair(const RunRecord& record) {
  const auto with = stats::slowest_rank_seconds(samples_of(record, &RankSamples::paired_step_ns));
  const auto without = slowest_compute_only_step_s(record);
  const auto paired = std::ranges::find_if(
      record.ranks, [](const RankSamples& rank) { return !rank.pair_of_step.empty(); });
  std::vector<double> exposed;
  if (paired == record.ranks.end()) {
    return exposed;
  }
  const std::vector<std::int64_t>& pairs = paired->pair_of_step;
  const std::size_t steps = std::min({pairs.size(), with.size(), without.size()});
  for (std::size_t begin = 0, end = 0; begin < steps; begin = end) {
    while (end < steps && pairs[end] == pairs[begin]) {
      ++end;
    }
    exposed.push_back(stats::median(std::span(with).subspan(begin, end - begin)) -
                      stats::median(std::span(without).subspan(begin, end - begin)));
  }
  return exposed;
}

std::optional<double> longest_data_wait_s(const RunRecord& record) {
  std::optional<double> longest;
  for (const RankSamples& rank : record.ranks) {
    const auto phase = rank.phase_ns.find("data");
    if (phase == rank.phase_ns.end() || phase->second.empty()) {
      continue;
    }
    const double sum = std::accumulate(phase->second.begin(), phase->second.end(), 0.0);
    longest = std::max(longest.value_or(0), sum / static_cast<double>(phase->second.size()) * 1e-9);
  }
  return longest;
}

}  // namespace paceline::records
