// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/next_measurement.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "predict/two_nodes.h"

namespace paceline::predict::next_measurement_test {
namespace {

constexpr double kOf95 = 1.96, kOfAFigure = 0.003;

PredictRequest job_of(plan::Rank ranks, const std::string& strategy = "bsp") {
  PredictRequest job = request(strategy, ranks);
  job.batch_size = 64;
  return job;
}

double step_s(const PredictRequest& job) { return plan::seconds_of(step_of(job).step); }

MeasuredFigure figure_of(plan::Rank ranks, const std::string& strategy = "bsp") {
  MeasuredFigure figure{.words = fmt::format("{} ranks", ranks),
                        .ranks = ranks,
                        .batch_size = 64,
                        .strategy = strategy};
  figure.step_s = step_s(job_of(ranks, strategy));
  return figure;
}

AdviseRequest request_of(plan::Rank ranks, const std::vector<MeasuredFigure>& figures = {}) {
  AdviseRequest request;
  request.job = job_of(ranks);
  if (!figures.empty()) {
    request.fit = std::make_shared<MeasuredFit>(request.job, figures);
    request.job = request.fit->priced(request.job);
  }
  return request;
}

NextMeasurements next_of(const AdviseRequest& request, const std::string& strategy = "bsp") {
  PredictRequest job = request.job;
  job.strategy = strategy;
  return next_measurements(request, advice_of(job, predict(job), request));
}

std::vector<std::string> names_of(const NextMeasurements& next) {
  std::vector<std::string> names;
  for (const NextMeasurement& it : next.candidates) {
    names.push_back(it.what);
  }
  return names;
}

/// How much longer a step takes where compute takes longer, of logarithms.
double share_of_compute(const PredictRequest& job) {
  PredictRequest more = job, less = job;
  more.samples_per_s = 250 / std::exp(0.01);
  less.samples_per_s = 250 * std::exp(0.01);
  return std::log(step_s(more) / step_s(less)) / 0.02;
}

/// Of 8 ranks, from one figure of `ranks` alone: the figure's error moves compute, and compute the
/// step; 1 % for each doubling of the ranks, 10 % from one rank to several.
double reach_from(plan::Rank ranks, double company) {
  const double compute = share_of_compute(job_of(8)) /
                         share_of_compute(job_of(ranks, ranks == 1 ? "none" : "bsp")) * kOfAFigure;
  return std::expm1(kOf95 *
                    std::sqrt(compute * compute + kOfAFigure * kOfAFigure +
                              std::pow(0.01 * std::log2(8.0 / ranks), 2) + company * company));
}

TEST(NextMeasurement, SaysWhichFirstFigureIsNeeded) {
  const NextMeasurements next = next_of(request_of(8));
  EXPECT_EQ(names_of(next), (std::vector<std::string>{"all hosts", "one host", "one device"}));
  EXPECT_FALSE(next.measured);
  // The error of the links moves compute against communication, by less than linearly.
  EXPECT_NEAR(next.candidates[0].half_width, reach_from(8, 0), 5e-4);
  EXPECT_NEAR(next.candidates[1].half_width, reach_from(4, 0), 1e-4);
  EXPECT_NEAR(next.candidates[2].half_width, reach_from(1, 0.1), 1e-4);
  EXPECT_EQ(next.candidates[1].figure, "ranks=4 batch=64 strategy=bsp");
  EXPECT_EQ(next.candidates[2].figure, "ranks=1 batch=64 strategy=none");
  EXPECT_TRUE(next.candidates[0].is_asked);
  EXPECT_EQ(next.best(), &next.candidates[0]);
  EXPECT_EQ(next.best(true), &next.candidates[1]);
}

// The asked step is that of one node.
TEST(NextMeasurement, PrefersTheWorldThatIsAsked) {
  const NextMeasurements next = next_of(request_of(4));
  EXPECT_EQ(next.candidates.front().what, "one host");
  EXPECT_EQ(next.best(), &next.candidates.front());
  const NextMeasurements alone = next_of(request_of(1, {figure_of(8)}), "none");
  EXPECT_EQ(alone.best()->what, "one device");
}

// A figure that is brought as it was asked for, with the time that was foreseen.
TEST(NextMeasurement, GivesWhatItPromises) {
  const std::vector<MeasuredFigure> none, one{figure_of(1, "none")};
  for (const auto& figures : {none, one}) {
    const AdviseRequest request = request_of(8, figures);
    const NextMeasurements next = next_of(request);
    ASSERT_GE(next.candidates.size(), 2U);
    for (const NextMeasurement& it : next.candidates) {
      const std::string strategy = it.ranks == 1 ? "none" : "bsp";
      PredictRequest there = request.fit ? request.fit->priced(job_of(it.ranks)) : job_of(it.ranks);
      there.strategy = strategy;
      std::vector<MeasuredFigure> more = figures;
      more.push_back(
          parse_figure(fmt::format("{} step={:.12f}s", it.figure, step_s(there))).figure);
      const MeasuredFit fit(job_of(8), more);
      EXPECT_NEAR(std::expm1(fit.errors_of(job_of(8)).half_width()) / it.half_width, 1, 1e-3)
          << it.figure;
    }
    EXPECT_LT(next.best()->half_width, *next.present_half_width);
  }
}

TEST(NextMeasurement, LeavesOutWhatWasMeasured) {
  const NextMeasurements next = next_of(request_of(8, {figure_of(8), figure_of(1, "none")}));
  EXPECT_TRUE(next.measured);
  EXPECT_EQ(std::ranges::count(names_of(next), "all hosts"), 0);
  EXPECT_EQ(std::ranges::count(names_of(next), "one device"), 0);
  EXPECT_EQ(std::ranges::count(names_of(next), "one host"), 1);
  EXPECT_EQ(std::ranges::count(names_of(next), "collectives alone"), 1);
  EXPECT_EQ(next.best(), nullptr);  // the asked step was measured
}

// All of it was measured, under another strategy than that which is asked.
TEST(NextMeasurement, OffersASweepWhereLinksAreFitted) {
  const AdviseRequest request = request_of(8, {figure_of(1, "none"), figure_of(4), figure_of(8)});
  const NextMeasurements next = next_of(request, "wfbp");
  EXPECT_EQ(std::ranges::count(names_of(next), "all hosts"), 1);
  const auto swept =
      std::ranges::find(next.candidates, "collectives alone", &NextMeasurement::what);
  ASSERT_NE(swept, next.candidates.end());
  EXPECT_EQ(swept->figure, "");
  EXPECT_LE(swept->half_width, *next.present_half_width);
  EXPECT_NEAR(
      swept->half_width,
      std::expm1(request.fit->if_collectives_measured()->errors_of(job_of(8, "wfbp")).half_width()),
      1e-12);
}

}  // namespace
}  // namespace paceline::predict::next_measurement_test
