// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/rank_interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/stats/quantile.h"

namespace paceline::stats {
namespace {

// Returns the largest k for which the values 0 .. k - 1 together have at most the probability (1 -
// level) / 2, given the probability of each value.
std::size_t largest_tail_order(const std::vector<double>& probability, double level) {
  double below = 0;
  std::size_t k = 0;
  while (k < probability.size() && below + probability[k] <= (1 - level) / 2 + 1e-12) {
    below += probability[k];
    ++k;
  }
  return k;
}

std::vector<double> pair_means(std::span<const double> values) {
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) {
      means.push_back((values[i] + values[j]) / 2);
    }
  }
  return means;
}

// Returns the interval from the k-th smallest to the k-th largest value, counted from 1.
std::optional<Interval> interval_between(std::vector<double> values, std::size_t k) {
  if (k == 0) {
    return std::nullopt;
  }
  std::sort(values.begin(), values.end());
  return Interval{.low = values[k - 1], .high = values[values.size() - k]};
}

}  // namespace

std::size_t signed_rank_order(std::size_t n, double level) {
  // Under the null hypothesis each rank is positive with probability 1/2, independently.
  std::vector<double> probability{1};
  for (std::size_t rank = 1; rank <= n; ++rank) {
    std::vector<double> next(probability.size() + rank, 0);
    for (std::size_t sum = 0; sum < probability.size(); ++sum) {
      next[sum] += probability[sum] / 2;
      next[sum + rank] += probability[sum] / 2;
    }
    probability = std::move(next);
  }
  return largest_tail_order(probability, level);
}

std::size_t rank_sum_order(std::size_t m, std::size_t n, double level) {
  // f(i, j) is the distribution of U of i and j values.  The largest of all values is one of the i
  // with probability i / (i + j), and then exceeds all j.
  std::vector<std::vector<double>> row(n + 1, {1.0});  // the row of i = 0
  for (std::size_t i = 1; i <= m; ++i) {
    std::vector<std::vector<double>> next{{1.0}};
    for (std::size_t j = 1; j <= n; ++j) {
      const double mine = static_cast<double>(i) / static_cast<double>(i + j);
      std::vector<double> both(i * j + 1, 0);
      for (std::size_t u = 0; u < row[j].size(); ++u) {
        both[u + j] += mine * row[j][u];
      }
      for (std::size_t u = 0; u < next[j - 1].size(); ++u) {
        both[u] += (1 - mine) * next[j - 1][u];
      }
      next.push_back(std::move(both));
    }
    row = std::move(next);
  }
  return largest_tail_order(row[n], level);
}

double center_of(std::span<const double> values) {
  PACELINE_CHECK(!values.empty());
  return median(pair_means(values));
}

std::optional<Interval> signed_rank_interval(std::span<const double> values, double level) {
  return interval_between(pair_means(values), signed_rank_order(values.size(), level));
}

std::optional<Interval> rank_sum_interval(std::span<const double> a, std::span<const double> b,
                                          double level) {
  std::vector<double> differences;
  for (const double x : a) {
    for (const double y : b) {
      differences.push_back(x - y);
    }
  }
  return interval_between(std::move(differences), rank_sum_order(a.size(), b.size(), level));
}

}  // namespace paceline::stats
