// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/compare_runs.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/predict/predict.h"

namespace paceline::predict {
namespace {

cluster::Cluster eight_hosts() {
  return cluster::read_cluster(std::string(PACELINE_SOURCE_DIR) +
                               "/clusters/8x4-2080ti-10gbe.toml");
}

double predicted_s(const std::string& strategy) {
  PredictRequest request;
  request.network = plan::network_shape("resnet50");
  request.cluster = eight_hosts();
  request.strategy = strategy;
  request.batch_size = 64;
  request.ranks = 8;
  request.engine = "nccl";
  return plan::seconds_of(predict(request).times.step);
}

/// A run of one rank's samples, each of whose steps takes so long.
records::RunRecord run(const std::string& strategy, double step_s) {
  records::RunRecord record;
  record.configuration.model = "resnet50";
  record.configuration.batch_size = 64;
  record.configuration.ranks = 8;
  record.configuration.strategy = strategy;
  record.configuration.engine = "nccl";
  record.configuration.device = "cuda";
  record.ranks.emplace_back().step_ns =
      std::vector<std::int64_t>(3, std::llround(step_s * 1e9));
  return record;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CompareRuns, TellsErrorAndOrder) {
  const double bsp = predicted_s("bsp"), wfbp = predicted_s("wfbp");
  ASSERT_NE(bsp, wfbp);
  const std::string alike = compared_text(
      std::vector{run("bsp", bsp), run("wfbp", 2 * wfbp)}, eight_hosts());
  EXPECT_TRUE(
      has(alike, fmt::format("  {:13.2f}  {:12.2f}  ", bsp * 1e3, bsp * 1e3)))
      << alike;
  EXPECT_TRUE(has(alike, "0.0  bsp, 8 ranks\n")) << alike;
  EXPECT_TRUE(has(alike, "-50.0  wfbp, 8 ranks\n")) << alike;
  EXPECT_TRUE(has(alike, "  largest error 50.0 %; the measured order "))
      << alike;
  const std::string faster = bsp < wfbp ? "bsp" : "wfbp";
  const std::string slower = bsp < wfbp ? "wfbp" : "bsp";
  EXPECT_TRUE(has(
      compared_text(std::vector{run(faster, 1), run(slower, 2)}, eight_hosts()),
      "; the measured order is the predicted one"));
  EXPECT_TRUE(has(
      compared_text(std::vector{run(faster, 2), run(slower, 1)}, eight_hosts()),
      "; the measured order differs from the predicted one"));
}

TEST(CompareRuns, RepetitionsAreOneRow) {
  const std::string text =
      compared_text(std::vector{run("bsp", 1), run("bsp", 1)}, eight_hosts());
  EXPECT_EQ(text.find("bsp, 8 ranks"), text.rfind("bsp, 8 ranks")) << text;
}

TEST(CompareRuns, SaysWhatIsNotPredicted) {
  records::RunRecord accumulated = run("bsp", 1);
  accumulated.configuration.accumulate = 2;
  const std::string text =
      compared_text(std::vector{accumulated}, eight_hosts());
  EXPECT_TRUE(has(text,
                  "bsp, 8 ranks: not predicted: its step has 2 micro-batches; "
                  "one is predicted\n"))
      << text;
  EXPECT_TRUE(has(text, "  no valid comparison\n")) << text;
}

TEST(CompareRuns, NeedsADescribedNetwork) {
  EXPECT_EQ(compared_text(std::vector{run("bsp", 1)}, {}), "");
}

}  // namespace
}  // namespace paceline::predict
