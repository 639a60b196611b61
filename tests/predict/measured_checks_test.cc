// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/predict/measured_fit.h"
#include "predict/two_nodes.h"

// What the fit to measured figures rejects, and of what it warns.

namespace paceline::predict::measured_checks_test {
namespace {

/// Sixteen hosts of 8 A100 behind 100 Gbit/s each.
PredictRequest job_of(plan::Rank ranks, int batch_size) {
  PredictRequest job = request("bsp", ranks);
  job.network = plan::network_shape("bert-large");
  job.engine = "nccl";
  job.batch_size = batch_size;
  cluster::ClusterHost host = job.cluster.hosts.front();
  host.slots = 8;
  job.cluster.hosts.assign(16, host);
  for (std::size_t i = 0; i < job.cluster.hosts.size(); ++i) {
    job.cluster.hosts[i].name = fmt::format("n{}", i);
  }
  job.cluster.links[0].bytes_per_s = 300'000'000'000;
  job.cluster.links[1].bytes_per_s = 12'500'000'000;
  job.cluster.links[1].sharing = cluster::LinkSharing::kHost;
  job.cluster.device.name = "A100-SXM4-80GB";
  job.cluster.device.flops_per_s = 156e12;
  return job;
}

std::vector<MeasuredFigure> steps(const std::vector<std::pair<int, double>>& ms_of_ranks) {
  std::vector<MeasuredFigure> figures;
  for (const auto& [ranks, ms] : ms_of_ranks) {
    figures.push_back(
        {.words = fmt::format("{} ranks", ranks), .ranks = ranks, .step_s = ms * 1e-3});
  }
  return figures;
}

std::string rejection_of(const PredictRequest& job, const std::vector<MeasuredFigure>& figures) {
  try {
    const MeasuredFit fit(job, figures);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const MeasuredConstant& constant_named(const MeasuredFit& fit, const std::string& name) {
  return *std::ranges::find(fit.constants(), name, &MeasuredConstant::name);
}

TEST(MeasuredChecks, NoFigureMovesMoreThanTheDescribedLink) {
  const MeasuredFit fit(job_of(64, 48), steps({{8, 150}, {32, 340}}));
  EXPECT_LE(constant_named(fit, "reached rate between hosts").value, 1);
  EXPECT_LE(constant_named(fit, "reached rate between hosts").interval.high, 1);
  const std::string why = rejection_of(job_of(64, 48), steps({{8, 100}, {32, 130}}));
  EXPECT_TRUE(contains(why, "--measured '32 ranks': no speed of a device and of the links")) << why;
  EXPECT_TRUE(contains(why, "; its bytes alone need at least 208.5 ms on the described ")) << why;
  EXPECT_TRUE(contains(why, " of 100 Gbit/s")) << why;
}

TEST(MeasuredChecks, RejectsComputeThatNoDeviceReaches) {
  const std::string why = rejection_of(job_of(8, 16), steps({{1, 5}}));
  EXPECT_TRUE(contains(why, "TFLOP of 16 samples")) << why;
  EXPECT_TRUE(contains(why, "flops of 156 TFLOP/s reaches at most 312")) << why;
  EXPECT_EQ(rejection_of(job_of(8, 16), steps({{8, 40}})), "no error");
}

TEST(MeasuredChecks, LeavesComputeOpenWhereTheNetworkDominates) {
  const std::string why = rejection_of(job_of(8, 16), steps({{32, 230}}));
  EXPECT_TRUE(contains(why, "determines nothing")) << why;
  EXPECT_TRUE(contains(why, "at least 208.5 ms")) << why;
  const auto width = [](plan::Rank ranks, double ms) {
    const MeasuredFit fit(job_of(8, 48), steps({{ranks, ms}}));
    const stats::Interval interval = fit.constants().front().interval;
    return std::log(interval.high / interval.low);
  };
  EXPECT_LT(width(8, 150), 0.1);
  EXPECT_GT(width(32, 350), 1);
}

TEST(MeasuredChecks, NamesTheFigureThatDoesNotFitTheOthers) {
  const std::string why =
      rejection_of(job_of(8, 48), steps({{1, 101}, {2, 101.5}, {4, 150}, {8, 102}}));
  EXPECT_TRUE(contains(why, "--measured '4 ranks': no speed")) << why;
}

TEST(MeasuredChecks, SaysThatARateIsOfAllRanks) {
  std::vector<MeasuredFigure> figures;
  for (const int ranks : {1, 8}) {
    figures.push_back(parse_figure(fmt::format("ranks={} rate=480", ranks)).figure);
  }
  const MeasuredFit fit(job_of(8, 48), figures);
  ASSERT_EQ(fit.warnings().size(), 1U);
  EXPECT_EQ(fit.warnings()[0].code, "unlikely-constant");
  EXPECT_TRUE(contains(fit.warnings()[0].advice, "; rate= is the samples/s of all ranks together"));
}

// A step of 1 % between 8 and 16 ranks which communication that hides does not explain.
TEST(MeasuredChecks, WarnsOfUnexplainedFigures) {
  PredictRequest job = job_of(16, 48);
  job.strategy = "ddp";
  job.cluster.links[1].bytes_per_s = 400'000'000'000;
  const auto codes_of = [](const MeasuredFit& fit) {
    std::vector<std::string> codes;
    for (const records::Warning& it : fit.warnings()) {
      codes.push_back(it.code);
    }
    return codes;
  };
  const auto width = [&](const MeasuredFit& fit) { return fit.errors_of(job).half_width(); };
  const MeasuredFit smooth(job, steps({{1, 100}, {8, 101}, {16, 101}}));
  const MeasuredFit jump(job, steps({{1, 100}, {8, 101}, {16, 103}}));
  EXPECT_EQ(std::ranges::count(codes_of(smooth), "unexplained-figure"), 0);
  EXPECT_GE(std::ranges::count(codes_of(jump), "unexplained-figure"), 1);
  EXPECT_GT(width(jump), 1.5 * width(smooth));
}

// Of a batch that was not measured, the null model takes the nearest of the smallest world.
TEST(MeasuredChecks, TheNullModelTakesTheNearestBatch) {
  std::vector<MeasuredFigure> figures;
  for (const char* words : {"ranks=8 batch=8 step=30ms", "ranks=8 batch=48 step=120ms"}) {
    figures.push_back(parse_figure(words).figure);
  }
  const MeasuredFit fit(job_of(8, 40), figures);
  EXPECT_EQ(fit.smallest(40).figure.batch_size, 48);
  EXPECT_EQ(fit.smallest(10).figure.batch_size, 8);
  Prediction prediction = predict(fit.priced(job_of(8, 40)));
  EXPECT_EQ(efficiency_text(fit, prediction), "");
  prediction = predict(fit.priced(job_of(8, 48)));
  EXPECT_TRUE(contains(efficiency_text(fit, prediction), "rate per rank 100.0 % of 8 ranks"));
  EXPECT_FALSE(contains(prediction.record.configuration.cluster, "samples/s"));
}

TEST(MeasuredChecks, EightBitsNeedNoOtherRate) {
  PredictRequest job = job_of(8, 48);
  job.network.model.dtype = plan::DType::kF8;
  EXPECT_EQ(rejection_of(job, steps({{8, 100}})), "no error");
}

}  // namespace
}  // namespace paceline::predict::measured_checks_test
