// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/random.h"
#include "paceline/stats/bootstrap.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/quantile.h"

namespace paceline::validate {
namespace {

constexpr std::size_t kLeastGroups = 8, kResamples = 2000;
constexpr double kLevel = 0.95;

stats::Interval interval_of(
    const std::map<std::string, std::vector<double>>& groups) {
  std::vector<const std::vector<double>*> all;
  for (const auto& [name, sizes] : groups) {
    all.push_back(&sizes);
  }
  Random random(0);
  std::vector<double> means;
  for (std::size_t i = 0; i < kResamples; ++i) {
    std::vector<double> sizes;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto& drawn = *all[random.below(all.size())];
      sizes.insert(sizes.end(), drawn.begin(), drawn.end());
    }
    means.push_back(stats::mean(sizes));
  }
  return stats::percentile_interval(std::move(means),
                                    stats::expanded_level(kLevel, all.size()));
}

}  // namespace

bool multi_node(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey:
      return cell.gpus() > 4;
    case Table::kDecentralized:
      return cell.key[0] == "text" || cell.gpus() > 8;
    case Table::kFrameworks:
    case Table::kDdp:
    case Table::kDdpBuckets:
      return cell.gpus() > 8;
  }
  return false;
}

bool is_scattered(const Cell& cell) {
  return cell.has_flag("spread_above_5_percent");
}

Score score(std::span<const Miss> misses) {
  Score score;
  score.cells = misses.size();
  if (misses.empty()) {
    return score;
  }
  std::map<std::string, std::vector<double>> groups;
  std::vector<double> sizes;
  for (const Miss& miss : misses) {
    sizes.push_back(std::abs(miss.error));
    groups[miss.group].push_back(sizes.back());
  }
  const Miss& worst = *std::ranges::max_element(
      misses, {}, [](const Miss& miss) { return std::abs(miss.error); });
  score.worst = worst.error;
  score.worst_id = worst.id;
  score.mean = stats::mean(sizes);
  score.median = stats::median(sizes);
  score.p90 = stats::quantile(sizes, 0.9);
  if (groups.size() >= kLeastGroups) {
    score.interval = interval_of(groups);
  }
  return score;
}

Score score(const Errors& errors,
            const std::function<bool(const Cell&)>& of,
            const Grouping& group) {
  std::vector<Miss> misses;
  for (const auto& [cell, error] : errors) {
    if (of(*cell)) {
      misses.push_back({.error = error, .group = group(*cell), .id = cell->id});
    }
  }
  return score(misses);
}

Score score(const Errors& errors, const Grouping& group) {
  return score(
      errors, [](const Cell&) { return true; }, group);
}

std::string interval_words(const std::optional<stats::Interval>& interval) {
  return interval ? fmt::format("{:.1f}-{:.1f}", interval->low, interval->high)
                  : "";
}

}  // namespace paceline::validate
