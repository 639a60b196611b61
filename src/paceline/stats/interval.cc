// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/stats/bootstrap.h"
#include "paceline/stats/distribution.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/quantile.h"
#include "paceline/stats/rank_interval.h"

namespace paceline::stats {
namespace {

std::vector<double> run_medians(Runs runs) {
  std::vector<double> medians;
  for (const std::vector<double>& run : runs) {
    if (!run.empty()) {
      medians.push_back(median(run));
    }
  }
  return medians;
}

Interval around(double center, double half_width) {
  return {.low = center - half_width, .high = center + half_width};
}

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) {
    value = std::log(value);
  }
  return values;
}

Interval exponential(Interval interval) {
  return {.low = std::exp(interval.low), .high = std::exp(interval.high)};
}

Interval t_interval(std::span<const double> values, double level) {
  const double t = student_t_quantile(level, static_cast<int>(values.size()) - 1);
  return around(mean(values), t * standard_error(values));
}

// The interval always contains the median, though a few skewed values can put the center of a t
// interval far from it.
Interval interval_over_runs(std::vector<double> values, double level) {
  if (values.size() >= kFewestRunsForOrder) {
    if (const auto k = median_order(values.size(), level)) {
      std::sort(values.begin(), values.end());
      return {.low = values[*k - 1], .high = values[values.size() - *k]};
    }
  }
  return t_interval(values, level).widened_to(median(values));
}

// Returns the interval over runs of a quantity that cannot be negative, such as times and rates:
// few runs that scatter widely must not give an interval that reaches below zero.
Interval positive_over_runs(const std::vector<double>& values, double level) {
  const bool positive =
      std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
  return positive && values.size() < kFewestRunsForOrder
             ? exponential(t_interval(logarithms(values), level)).widened_to(median(values))
             : interval_over_runs(values, level);
}

// Returns the interval of the center of values whose distribution is symmetric.
Interval symmetric_interval(const std::vector<double>& values, double level) {
  const auto interval = signed_rank_interval(values, level);
  return interval && values.size() >= kFewestRunsForOrder
             ? *interval
             : t_interval(values, level).widened_to(center_of(values));
}

// Draws the medians of the runs of one case, each from effective_samples() of the run's samples.
// The set of runs is fixed and not drawn.
class CaseResampler {
 public:
  explicit CaseResampler(Runs runs) {
    for (const std::vector<double>& run : runs) {
      if (!run.empty()) {
        const auto steps =
            std::max<std::size_t>(2, static_cast<std::size_t>(effective_samples(run)));
        runs_.push_back({run, steps});
        fewest_steps_ = std::min(fewest_steps_, run.size());
        effective_steps_ += steps;
      }
    }
  }

  bool has_enough_steps() const { return fewest_steps_ >= kFewestSteps; }
  std::size_t effective_steps() const { return effective_steps_; }

  std::vector<double> draw(Random& random) {
    std::vector<double> medians;
    for (const auto& [run, steps] : runs_) {
      values_.clear();
      for (std::size_t i = 0; i < steps; ++i) {
        values_.push_back(run[random.below(run.size())]);
      }
      medians.push_back(median_in_place(values_));
    }
    return medians;
  }

 private:
  struct Run {
    std::span<const double> samples;
    std::size_t effective_steps;
  };
  std::vector<Run> runs_;
  std::size_t fewest_steps_ = static_cast<std::size_t>(-1);
  std::size_t effective_steps_ = 0;
  std::vector<double> values_;
};

// A quantity of one or two cases, as a function of the medians of their runs.
using Medians = std::vector<std::vector<double>>;  // by case, then by run
using Statistic = std::function<double(const Medians&)>;

// Returns the interval from the steps inside the runs: the bootstrap of the statistic.  Returns
// nothing if a run has too few steps.
std::optional<Interval> interval_within_runs(std::span<const Runs> cases,
                                             const Statistic& statistic,
                                             const IntervalOptions& options) {
  std::vector<CaseResampler> resamplers(cases.begin(), cases.end());
  if (!std::ranges::all_of(resamplers, &CaseResampler::has_enough_steps)) {
    return std::nullopt;
  }
  std::vector<double> replicates;
  Medians drawn(cases.size());
  for (std::size_t i = 0; i < options.resamples; ++i) {
    Random random(options.seed, i);
    std::ranges::transform(resamplers, drawn.begin(),
                           [&](CaseResampler& one) { return one.draw(random); });
    replicates.push_back(statistic(drawn));
  }
  const std::size_t steps =
      std::ranges::min(resamplers, {}, &CaseResampler::effective_steps).effective_steps();
  return percentile_interval(std::move(replicates), expanded_level(options.level, steps));
}

using OverRuns = std::function<Interval(const Medians&)>;

// Returns the statistic with its interval: over the runs if each case has kFewestRuns, else within
// them.  Returns nothing if a case has no samples.
std::optional<Estimate> estimate_of(std::span<const Runs> cases, const Statistic& statistic,
                                    const OverRuns& over_runs, const IntervalOptions& options) {
  Medians medians;
  std::ranges::transform(cases, std::back_inserter(medians), run_medians);
  const std::size_t runs = std::ranges::min(medians, {}, &std::vector<double>::size).size();
  if (runs == 0) {
    return std::nullopt;
  }
  Estimate result{.value = statistic(medians), .runs = runs, .level = options.level};
  if (runs >= kFewestRuns) {
    result.basis = IntervalBasis::kRuns;
    result.interval = over_runs(medians);
  } else {
    result.interval = interval_within_runs(cases, statistic, options);
  }
  return result;
}

Interval welch(const std::vector<double>& top, const std::vector<double>& bottom, double level) {
  const double u = standard_error(top) * standard_error(top);
  const double v = standard_error(bottom) * standard_error(bottom);
  const double center = mean(top) - mean(bottom);
  if (u + v == 0) {
    return around(center, 0);
  }
  // The degrees of freedom of Welch and Satterthwaite, rounded down, which widens the interval.
  const double degrees = (u + v) * (u + v) /
                         (u * u / (static_cast<double>(top.size()) - 1) +
                          v * v / (static_cast<double>(bottom.size()) - 1));
  return around(center, student_t_quantile(level, static_cast<int>(degrees)) * std::sqrt(u + v));
}

Interval ratio_over_runs(const std::vector<double>& top, const std::vector<double>& bottom,
                         double level) {
  const auto numerator_data = logarithms(top);
  const auto below = logarithms(bottom);
  if (std::min(top.size(), bottom.size()) >= kFewestRunsForOrder) {
    if (const auto interval = rank_sum_interval(numerator_data, below, level)) {
      return exponential(*interval);
    }
  }
  return exponential(welch(numerator_data, below, level));
}

using Combine = double (*)(double first, double second);

std::vector<double> pairs_of(const Medians& medians, Combine combine) {
  std::vector<double> pairs(medians[0].size());
  std::ranges::transform(medians[0], medians[1], pairs.begin(), combine);
  return pairs;
}

void check_pairs(Runs first, Runs second) {
  PACELINE_CHECK_EQ(first.size(), second.size());
  for (const Runs side : {first, second}) {
    PACELINE_CHECK(std::ranges::none_of(side, &std::vector<double>::empty));
  }
}

}  // namespace

std::optional<Estimate> median_of_runs(Runs runs, const IntervalOptions& options) {
  return estimate_of(
      std::array{runs}, [](const Medians& medians) { return median(medians[0]); },
      [&](const Medians& medians) { return positive_over_runs(medians[0], options.level); },
      options);
}

std::optional<Estimate> ratio_of_medians(Runs numerator, Runs denominator,
                                         const IntervalOptions& options) {
  const auto ratio = [](const Medians& medians) { return median(medians[0]) / median(medians[1]); };
  return estimate_of(
      std::array{numerator, denominator}, ratio,
      [&](const Medians& medians) {
        return ratio_over_runs(medians[0], medians[1], options.level).widened_to(ratio(medians));
      },
      options);
}

std::optional<Estimate> paired_difference(Runs minuend, Runs subtrahend,
                                          const IntervalOptions& options) {
  check_pairs(minuend, subtrahend);
  constexpr Combine kMinus = [](double a, double b) { return a - b; };
  return estimate_of(
      std::array{minuend, subtrahend},
      [](const Medians& medians) { return median(pairs_of(medians, kMinus)); },
      [&](const Medians& medians) {
        return interval_over_runs(pairs_of(medians, kMinus), options.level);
      },
      options);
}

std::optional<Estimate> center_of_pairs(Runs runs, const IntervalOptions& options) {
  std::vector<double> centers;
  std::vector<double> pairs;
  for (const std::vector<double>& run : runs) {
    if (!run.empty()) {
      centers.push_back(center_of(run));
      pairs.insert(pairs.end(), run.begin(), run.end());
    }
  }
  if (centers.empty()) {
    return std::nullopt;
  }
  Estimate result{.value = median(centers), .runs = centers.size(), .level = options.level};
  if (centers.size() >= kFewestRuns) {
    result.basis = IntervalBasis::kRuns;
    result.interval = interval_over_runs(centers, options.level);
  } else if (pairs.size() >= kFewestPairs) {
    result.interval = symmetric_interval(pairs, options.level).widened_to(result.value);
  }
  return result;
}

std::optional<Estimate> paired_ratio(Runs numerator, Runs denominator,
                                     const IntervalOptions& options) {
  check_pairs(numerator, denominator);
  constexpr Combine kLogRatio = [](double a, double b) { return std::log(a / b); };
  auto result = estimate_of(
      std::array{numerator, denominator},
      [](const Medians& medians) { return center_of(pairs_of(medians, kLogRatio)); },
      [&](const Medians& medians) {
        return symmetric_interval(pairs_of(medians, kLogRatio), options.level);
      },
      options);
  if (result) {
    result->value = std::exp(result->value);
    if (result->interval) {
      result->interval = exponential(*result->interval);
    }
  }
  return result;
}

}  // namespace paceline::stats
