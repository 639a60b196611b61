// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "paceline/base/error.h"
#include "paceline/stats/mean.h"

namespace paceline::stats {
namespace {

// tau, the prior's standard deviation of the effect, which is the mean in standard deviations.
// With this value a large effect needs only three differences, and an effect of 0.5 needs only
// slightly more of them than with the best value.
constexpr double kPriorEffectSd = 3;

struct Moments {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;  // standard deviation
};

// Returns nothing for too few values and for equal ones.  Equal measurements can differ in their
// last bits once they are differences of logarithms.
std::optional<Moments> moments_of(std::span<const double> values) {
  constexpr double kRounding = 1e-12;
  if (values.size() < kFewestForSequential) {
    return std::nullopt;
  }
  const double deviation = standard_error(values) * std::sqrt(static_cast<double>(values.size()));
  return deviation > kRounding ? std::optional(Moments{values.size(), mean(values), deviation})
                               : std::nullopt;
}

// Returns half the width of the interval: the distance from the mean at which the evidence is 1 /
// significance.
double evidence_radius(std::size_t count, double deviation, double significance) {
  const auto n = static_cast<double>(count);
  const double g = 1 + n * kPriorEffectSd * kPriorEffectSd;
  const double k = std::pow(std::sqrt(g) / significance, 2 / n);
  if (k >= g) {
    return std::numeric_limits<double>::infinity();
  }
  return deviation * std::sqrt((n - 1) / n * (k - 1) / (1 - k / g));
}

Interval anytime_valid_interval(const Moments& moments, std::size_t count, double significance) {
  const double half = evidence_radius(count, moments.deviation, significance);
  return {moments.mean - half, moments.mean + half};
}

}  // namespace

std::optional<double> sequential_evidence(std::span<const double> differences, double mean) {
  const auto moments = moments_of(differences);
  if (!moments) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(moments->count);
  const double g = 1 + n * kPriorEffectSd * kPriorEffectSd;
  const double t = (moments->mean - mean) / moments->deviation * std::sqrt(n);
  const double q = t * t / (n - 1);
  return std::pow((1 + q) / (1 + q / g), n / 2) / std::sqrt(g);
}

std::optional<Interval> sequential_interval(std::span<const double> differences,
                                            double significance) {
  PACELINE_CHECK(significance > 0 && significance < 1);
  const auto moments = moments_of(differences);
  return moments ? std::optional(anytime_valid_interval(*moments, moments->count, significance))
                 : std::nullopt;
}

SequentialEnd sequential_end(const Interval& interval, const SequentialGoal& goal) {
  if (interval.low > std::log1p(goal.threshold) || interval.high < std::log1p(-goal.threshold)) {
    return SequentialEnd::kChanged;
  }
  return interval.low >= goal.low && interval.high <= goal.high ? SequentialEnd::kUnchanged
                                                                : SequentialEnd::kNone;
}

std::optional<std::size_t> remaining_sequential_differences(std::span<const double> differences,
                                                            const SequentialGoal& goal) {
  constexpr std::size_t kMost = 1'000'000;
  const auto moments = moments_of(differences);
  if (!moments) {
    return std::nullopt;
  }
  const auto ends = [&](std::size_t count) {
    return sequential_end(anytime_valid_interval(*moments, count, goal.significance), goal) !=
           SequentialEnd::kNone;
  };
  if (ends(moments->count)) {
    return 0;
  }
  std::size_t low = moments->count;  // this number does not end the sequence
  std::size_t high = low;
  for (std::size_t step = 1; !ends(high); step *= 2) {
    if (high > kMost) {
      return std::nullopt;
    }
    low = high;
    high += step;
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (ends(middle) ? high : low) = middle;
  }
  return high - moments->count;
}

}  // namespace paceline::stats
