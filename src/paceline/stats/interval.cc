// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/interval.h"

#include <algorithm>
#include <cmath>
#include <functional>

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

// Returns the interval of the center of values that are symmetric about this center.
Interval symmetric_interval(const std::vector<double>& values, double level) {
  const auto interval = signed_rank_interval(values, level);
  return interval && values.size() >= kFewestRunsForOrder
             ? *interval
             : t_interval(values, level).widened_to(center_of(values));
}

// Draws the median of one run repeatedly, each time from effective_samples() of its samples.
class RunResampler {
 public:
  explicit RunResampler(const std::vector<double>& run)
      : run_(run),
        effective_steps_(
            std::max<std::size_t>(2, static_cast<std::size_t>(effective_samples(run)))) {}

  std::size_t effective_steps() const { return effective_steps_; }

  double draw(Random& random) {
    values_.clear();
    for (std::size_t i = 0; i < effective_steps_; ++i) {
      values_.push_back(run_[random.below(run_.size())]);
    }
    return median_in_place(values_);
  }

 private:
  std::span<const double> run_;
  std::size_t effective_steps_;
  std::vector<double> values_;
};

// Draws the medians of several runs repeatedly, each by RunResampler.  The set of runs is fixed and
// not drawn.
class CaseResampler {
 public:
  explicit CaseResampler(Runs runs) {
    for (const std::vector<double>& run : runs) {
      if (!run.empty()) {
        runs_.emplace_back(run);
        fewest_steps_ = std::min(fewest_steps_, run.size());
        effective_steps_ += runs_.back().effective_steps();
      }
    }
  }

  bool has_enough_steps() const { return fewest_steps_ >= kFewestSteps; }
  std::size_t effective_steps() const { return effective_steps_; }

  /// Draws each run's median once.
  const std::vector<double>& draw(Random& random) {
    medians_.clear();
    for (RunResampler& run : runs_) {
      medians_.push_back(run.draw(random));
    }
    return medians_;
  }

 private:
  std::vector<RunResampler> runs_;
  std::size_t fewest_steps_ = static_cast<std::size_t>(-1);
  std::size_t effective_steps_ = 0;
  std::vector<double> medians_;
};

using Draw = std::function<double(Random&)>;

Interval bootstrap(const Draw& draw, double level, const IntervalOptions& options) {
  std::vector<double> replicates;
  replicates.reserve(options.resamples);
  for (std::size_t i = 0; i < options.resamples; ++i) {
    Random random(options.seed, i);
    replicates.push_back(draw(random));
  }
  return percentile_interval(std::move(replicates), level);
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

// How the two runs of a pair are compared, and how the pairs are summarized.
struct PairRule {
  double (*combine)(double first, double second);
  double (*center)(std::span<const double> pairs);
  Interval (*over_runs)(const std::vector<double>& pairs, double level);
};

constexpr PairRule kDifference{
    .combine = [](double a, double b) { return a - b; },
    .center = median,
    .over_runs = [](const std::vector<double>& pairs,
                    double level) { return interval_over_runs(pairs, level); }};

constexpr PairRule kLogRatio{
    .combine = [](double a, double b) { return std::log(a / b); },
    .center = center_of,
    .over_runs = [](const std::vector<double>& pairs,
                    double level) { return symmetric_interval(pairs, level); }};

std::optional<Estimate> paired_estimate(Runs first, Runs second, const PairRule& rule,
                                        const IntervalOptions& options) {
  PACELINE_CHECK_EQ(first.size(), second.size());
  const auto a = run_medians(first);
  const auto b = run_medians(second);
  PACELINE_CHECK_EQ(a.size(), first.size());
  PACELINE_CHECK_EQ(b.size(), second.size());
  if (a.empty()) {
    return std::nullopt;
  }
  std::vector<double> pairs(a.size());
  std::transform(a.begin(), a.end(), b.begin(), pairs.begin(), rule.combine);
  Estimate result{.value = rule.center(pairs), .runs = pairs.size(), .level = options.level};
  if (pairs.size() >= kFewestRuns) {
    result.basis = IntervalBasis::kRuns;
    result.interval = rule.over_runs(pairs, options.level);
    return result;
  }
  CaseResampler left(first);
  CaseResampler right(second);
  if (left.has_enough_steps() && right.has_enough_steps()) {
    std::vector<double> drawn(pairs.size());
    const auto draw = [&](Random& random) {
      const auto& tops = left.draw(random);
      const auto& bottoms = right.draw(random);
      std::transform(tops.begin(), tops.end(), bottoms.begin(), drawn.begin(), rule.combine);
      return rule.center(drawn);
    };
    result.interval = bootstrap(
        draw,
        expanded_level(options.level, std::min(left.effective_steps(), right.effective_steps())),
        options);
  }
  return result;
}

}  // namespace

std::optional<Estimate> median_of_runs(Runs runs, const IntervalOptions& options) {
  const auto medians = run_medians(runs);
  if (medians.empty()) {
    return std::nullopt;
  }
  Estimate result{.value = median(medians), .runs = medians.size(), .level = options.level};
  if (medians.size() >= kFewestRuns) {
    result.basis = IntervalBasis::kRuns;
    result.interval = positive_over_runs(medians, options.level);
    return result;
  }
  CaseResampler resampler(runs);
  if (resampler.has_enough_steps()) {
    result.interval =
        bootstrap([&](Random& random) { return median(resampler.draw(random)); },
                  expanded_level(options.level, resampler.effective_steps()), options);
  }
  return result;
}

std::optional<Estimate> ratio_of_medians(Runs numerator, Runs denominator,
                                         const IntervalOptions& options) {
  const auto top = run_medians(numerator);
  const auto bottom = run_medians(denominator);
  if (top.empty() || bottom.empty()) {
    return std::nullopt;
  }
  const std::size_t runs = std::min(top.size(), bottom.size());
  Estimate result{.value = median(top) / median(bottom), .runs = runs, .level = options.level};
  if (runs >= kFewestRuns) {
    result.basis = IntervalBasis::kRuns;
    result.interval = ratio_over_runs(top, bottom, options.level).widened_to(result.value);
    return result;
  }
  CaseResampler numerator_data(numerator);
  CaseResampler below(denominator);
  if (numerator_data.has_enough_steps() && below.has_enough_steps()) {
    const auto draw = [&](Random& random) {
      const double value = median(numerator_data.draw(random));
      return value / median(below.draw(random));
    };
    result.interval = bootstrap(
        draw,
        expanded_level(options.level,
                       std::min(numerator_data.effective_steps(), below.effective_steps())),
        options);
  }
  return result;
}

std::optional<Estimate> paired_difference(Runs minuend, Runs subtrahend,
                                          const IntervalOptions& options) {
  return paired_estimate(minuend, subtrahend, kDifference, options);
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
  auto result = paired_estimate(numerator, denominator, kLogRatio, options);
  if (result) {
    result->value = std::exp(result->value);
    if (result->interval) {
      result->interval = exponential(*result->interval);
    }
  }
  return result;
}

}  // namespace paceline::stats
