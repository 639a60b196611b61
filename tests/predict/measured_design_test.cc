// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/predict/engines.h"
#include "paceline/predict/measured_fit.h"
#include "predict/two_nodes.h"

namespace paceline::predict::measured_design_test {
namespace {

using Values = std::vector<double>;

constexpr double kOf95 = 1.96, kOfAFigure = 0.003, kOfAnotherStrategy = 0.03;

double log_step(const PredictRequest& job) { return std::log(plan::seconds_of(step_of(job).step)); }

PredictRequest job_of(plan::Rank ranks, const std::string& strategy = "bsp") {
  PredictRequest job = request(strategy, ranks);
  job.engine = "nccl-2.4";
  job.batch_size = 64;
  return job;
}

MeasuredFigure figure_of(plan::Rank ranks) {
  PredictRequest job = job_of(ranks);
  job.samples_per_s = 300;
  job.measured.network_share = 0.8;
  MeasuredFigure figure{.words = fmt::format("{} ranks", ranks), .ranks = ranks, .strategy = "bsp"};
  figure.step_s = std::exp(log_step(job));
  return figure;
}

/// Without a time.
MeasuredFigure untimed(plan::Rank ranks) {
  return {.words = fmt::format("{} ranks", ranks), .ranks = ranks, .strategy = "bsp"};
}

double half_width(const MeasuredFit& fit, const PredictRequest& job) {
  return fit.errors_of(job).half_width();
}

/// How the logarithm of a step depends on those of compute and of the rates between hosts and
/// inside them, and on the start of a collective in seconds: differences to both sides.
Values slope_of(const PredictRequest& priced) {
  constexpr double kChange = 0.01, kSeconds = 1e-6;
  const auto between = [&](auto change, double step) {
    PredictRequest more = priced, less = priced;
    change(more, step);
    change(less, -step);
    return (log_step(more) - log_step(less)) / (2 * step);
  };
  return {
      between([](PredictRequest& it, double by) { *it.samples_per_s *= std::exp(-by); }, kChange),
      between([](PredictRequest& it, double by) { it.measured.network_share *= std::exp(by); },
              kChange),
      between([](PredictRequest& it, double by) { it.measured.device_share *= std::exp(by); },
              kChange),
      between(
          [](PredictRequest& it, double by) { it.measured.collective += std::llround(by * 1e12); },
          kSeconds)};
}

/// What figures with these slopes leave open of a step with that slope: s' (1/prior^2 + sum of g g'
/// / 0.003^2)^-1 s, by elimination.
double variance_of(const Values& priors, const std::vector<Values>& figures, const Values& step) {
  std::vector<Values> matrix(priors.size(), Values(priors.size()));
  for (std::size_t k = 0; k < priors.size(); ++k) {
    for (std::size_t l = 0; l < priors.size(); ++l) {
      matrix[k][l] = k == l ? 1 / (priors[k] * priors[k]) : 0;
      for (const Values& it : figures) {
        matrix[k][l] += it[k] * it[l] / (kOfAFigure * kOfAFigure);
      }
    }
  }
  Values right = step;
  double variance = 0;
  for (std::size_t k = 0; k < priors.size(); ++k) {
    for (std::size_t row = k + 1; row < priors.size(); ++row) {
      const double times = matrix[row][k] / matrix[k][k];
      for (std::size_t l = k; l < priors.size(); ++l) {
        matrix[row][l] -= times * matrix[k][l];
      }
      right[row] -= times * right[k];
    }
    variance += right[k] * right[k] / matrix[k][k];
  }
  return variance;
}

// A schedule that overlaps nothing, so that its step is smooth in every constant.
constexpr const char* kOther = "bsp+hierarchical";

/// The half width of the interval of the step of 8 ranks under it where bsp was measured on 4 and
/// on 8.
double expected_reach(const MeasuredFit& fit, double of_rates, double of_start) {
  const auto slope = [&](plan::Rank ranks, const std::string& strategy) {
    return slope_of(fit.priced(job_of(ranks, strategy)));
  };
  const double variance = variance_of({5, of_rates, of_rates, of_start},
                                      {slope(4, "bsp"), slope(8, "bsp")}, slope(8, kOther));
  return kOf95 *
         std::sqrt(variance + kOfAFigure * kOfAFigure + kOfAnotherStrategy * kOfAnotherStrategy);
}

double engine_start() {
  return std::max(30e-6, plan::seconds_of(engine_costs_named("nccl-2.4").costs.collective));
}

TEST(MeasuredDesign, ErrorsAreThoseOfTheDesign) {
  const MeasuredFit fit(job_of(8), {figure_of(4), figure_of(8)});
  const double expected = expected_reach(fit, 0.35, engine_start());
  EXPECT_NEAR(half_width(fit, job_of(8, kOther)) / expected, 1, 0.01);
  const stats::Interval interval = fit.interval_of(job_of(8, kOther));
  EXPECT_NEAR(std::log(interval.high / interval.low), 2 * half_width(fit, job_of(8, kOther)),
              1e-12);
}

TEST(MeasuredDesign, AFigureDeterminesWhatItWouldIfItWereMeasured) {
  const MeasuredFit four(job_of(8), {figure_of(4)});
  const MeasuredFit foreseen = four.if_measured(untimed(8));
  MeasuredFigure eight = untimed(8);
  eight.step_s = std::exp(log_step(four.priced(job_of(8))));
  const MeasuredFit measured(job_of(8), {figure_of(4), eight});
  for (const char* strategy : {"bsp", "wfbp", "fusion"}) {
    EXPECT_NEAR(
        half_width(foreseen, job_of(8, strategy)) / half_width(measured, job_of(8, strategy)), 1,
        1e-3)
        << strategy;
  }
  EXPECT_LT(half_width(foreseen, job_of(8)), 0.5 * half_width(four, job_of(8)));
  EXPECT_NEAR(log_step(foreseen.priced(job_of(8))), log_step(four.priced(job_of(8))), 1e-6);
  // A new smallest world and a new batch take their places among the constants.
  const MeasuredFit with_one =
      four.if_measured({.words = "1 rank", .ranks = 1, .batch_size = 32, .strategy = "none"});
  EXPECT_NEAR(log_step(with_one.priced(job_of(8))), log_step(four.priced(job_of(8))), 1e-6);
  PredictRequest half = job_of(4);
  half.batch_size = 32;
  EXPECT_LT(half_width(with_one, half), 0.5 * half_width(four, half));
}

TEST(MeasuredDesign, ASweepNarrowsWhatIsKnownOfLinks) {
  const MeasuredFit fit(job_of(8), {figure_of(4), figure_of(8)});
  const auto swept = fit.if_collectives_measured();
  ASSERT_TRUE(swept);
  const PredictRequest other = job_of(8, kOther);
  EXPECT_NEAR(half_width(*swept, other) / expected_reach(fit, 0.1, 30e-6), 1, 0.01);
  EXPECT_LT(half_width(*swept, other), half_width(fit, other));
  EXPECT_FALSE(swept->if_collectives_measured());  // again
  EXPECT_FALSE(
      MeasuredFit(job_of(8), {figure_of(1)}).if_collectives_measured());  // no constant of a link
}

TEST(MeasuredDesign, KnowsTheCasesThatWereMeasured) {
  const MeasuredFit fit(job_of(8), {figure_of(8)});
  EXPECT_TRUE(fit.is_measured(untimed(8)));
  EXPECT_FALSE(fit.is_measured(untimed(4)));
  MeasuredFigure other = untimed(8);
  other.strategy = "fusion:bucket-mb=25";
  EXPECT_FALSE(fit.is_measured(other));
  other = untimed(8);
  other.batch_size = 32;
  EXPECT_FALSE(fit.is_measured(other));
  other = untimed(8);
  other.ranks_per_host = {8};
  EXPECT_FALSE(fit.is_measured(other));
  EXPECT_EQ(fit.if_measured(untimed(8)).checked().size(), 1U);
}

// Written as a text or by a bucket size beside it, a strategy is the same.
TEST(MeasuredDesign, ComparesStrategiesNotTheirTexts) {
  MeasuredFigure figure = figure_of(8);
  figure.strategy = "fusion";
  figure.bucket_mb = 10;
  const MeasuredFit fit(job_of(8), {figure});
  EXPECT_EQ(fit.errors_of(job_of(8, "fusion:bucket-mb=10")).strategy, 0);
  EXPECT_EQ(fit.errors_of(job_of(8, "fusion:bucket-mb=25")).strategy, kOfAnotherStrategy);
  EXPECT_EQ(fit.errors_of(job_of(8, "fusion")).strategy, kOfAnotherStrategy);
}

TEST(MeasuredDesign, StepsAreToldApartByWhatIsNotCommon) {
  const StepErrors one{.log_step_s = 0, .constants = {0.1, 0.2}, .strategy = 0.03, .job = 0.5};
  const StepErrors other{.log_step_s = 1, .constants = {0.1, 0.16}, .strategy = 0, .job = 0.5};
  EXPECT_DOUBLE_EQ(least_distinguishable_share(one, other), std::expm1(kOf95 * 0.05));
  EXPECT_DOUBLE_EQ(least_distinguishable_share(other, other), 0);
  EXPECT_DOUBLE_EQ(one.half_width(), kOf95 * std::sqrt(0.05 + 0.0009 + 0.25));
}

}  // namespace
}  // namespace paceline::predict::measured_design_test
