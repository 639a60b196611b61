// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/lateness.h"

#include <algorithm>
#include <cstddef>

namespace paceline::report {

std::optional<Lateness> lateness_of(
    const std::vector<const records::RunRecord*>& runs) {
  std::int64_t averages = 0, missed = 0, most = 0;
  for (const records::RunRecord* run : runs) {
    if (run->configuration.has_tables()) {
      continue;  // their counts are of lookups
    }
    for (const records::RankSamples& rank : run->ranks) {
      const auto& by_steps = rank.averages_by_steps_missed;
      for (std::size_t i = 0; i < by_steps.size(); ++i) {
        const auto steps = static_cast<std::int64_t>(i);
        averages += by_steps[i];
        missed += steps * by_steps[i];
        most = by_steps[i] > 0 ? std::max(most, steps) : most;
      }
    }
  }
  if (averages == 0) {
    return std::nullopt;
  }
  return Lateness{
      .mean_steps = static_cast<double>(missed) / static_cast<double>(averages),
      .most_steps = most};
}

}  // namespace paceline::report
