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
  record.ranks.emplace_back().step_ns = std::vector<std::int64_t>(3, std::llround(step_s * 1e9));
  return record;
}

Comparison compare(const std::vector<records::RunRecord>& records) {
  return compare_runs(records, eight_hosts()).value();
}

TEST(CompareRuns, TellsTheError) {
  const double bsp = predicted_s("bsp"), wfbp = predicted_s("wfbp");
  ASSERT_NE(bsp, wfbp);
  const Comparison alike = compare({run("bsp", bsp), run("wfbp", 2 * wfbp)});
  EXPECT_EQ(alike.network, "cluster '" + eight_hosts().name + "', beside what was measured on it");
  ASSERT_EQ(alike.cases.size(), 2U);
  EXPECT_EQ(alike.cases[0].name, "bsp, 8 ranks");
  EXPECT_EQ(alike.cases[0].predicted_s, bsp);
  EXPECT_NEAR(alike.cases[0].measured_s, bsp, 1e-9);  // whole nanoseconds
  EXPECT_EQ(alike.cases[0].note, "");
  EXPECT_NEAR(alike.cases[1].measured_s, 2 * wfbp, 1e-9);
  EXPECT_EQ(alike.conclusion, "largest error 50.0 %");
}

TEST(CompareRuns, RepetitionsAreOneRow) {
  EXPECT_EQ(compare({run("bsp", 1), run("bsp", 1)}).cases.size(), 1U);
}

// Every third step averages; what is left of a period at the end does not count.
TEST(CompareRuns, StepsOfAPeriodCountByTheirMean) {
  records::RunRecord one = run("parameter-allreduce+local-sgd:every=3", 1);
  one.configuration.steps = 7;
  one.ranks[0].step_ns = {1'000'000'000, 4'000'000'000, 1'000'000'000, 1'000'000'000,
                          4'000'000'000, 1'000'000'000, 9'000'000'000};
  EXPECT_EQ(compare({one, one}).cases.at(0).measured_s, 2);
}

TEST(CompareRuns, SaysWhatIsNotPredicted) {
  records::RunRecord accumulated = run("bsp", 1);
  accumulated.configuration.accumulate = 2;
  const Comparison comparison = compare({accumulated});
  EXPECT_EQ(comparison.cases.at(0).predicted_s, std::nullopt);
  EXPECT_EQ(comparison.cases.at(0).note,
            "not predicted: its step has 2 micro-batches; one is predicted");
  EXPECT_EQ(comparison.conclusion, "no valid comparison");
}

TEST(CompareRuns, StepsWithoutCommunicationAreTheComputeTime) {
  cluster::Cluster bare = eight_hosts();
  bare.device = {};
  records::RunRecord alone = run("none", 1);
  const auto compared = [&] { return compare_runs(std::vector{alone}, bare)->cases.at(0); };
  EXPECT_EQ(compared().predicted_s, std::nullopt);
  EXPECT_TRUE(compared().note.starts_with("not predicted: nothing says how fast the device"))
      << compared().note;
  alone.wire.measured_per_step = 0;
  EXPECT_NEAR(compared().predicted_s.value(), 1, 1e-9);
  EXPECT_EQ(compared().note, "compute as measured without communication");
  alone.wire.measured_per_step = 1;
  alone.ranks[0].compute_only_step_ns = {500'000'000};
  EXPECT_LT(compared().predicted_s.value(), 1);
}

TEST(CompareRuns, SaysWhichOperationsWereSlowerThanTheLink) {
  records::RunRecord late = run("bsp", 1);
  late.link_check.emplace();
  late.link_check->operations = 9;
  late.link_check->late = 2;
  late.link_check->overdue_ns = 3;
  late.link_check->window_ns = 100;
  EXPECT_EQ(compare({late}).cases.at(0).note,
            "INVALID: 2 of 9 operations were slower than the link");
  late.link_check->overdue_ns = 1;
  EXPECT_EQ(compare({late}).cases.at(0).note, "");
}

TEST(CompareRuns, NamesWhatRowsDifferInAndCountsTheValidOnes) {
  records::RunRecord other = run("bsp", 1);
  other.configuration.model = "resnet18";
  other.link_check = {.operations = 1, .late = 1};
  const Comparison comparison = compare({run("bsp", predicted_s("bsp")), other});
  EXPECT_EQ(comparison.cases.at(0).name, "bsp, 8 ranks, resnet50");
  EXPECT_EQ(comparison.cases.at(1).name, "bsp, 8 ranks, resnet18");
  EXPECT_TRUE(
      comparison.conclusion.starts_with("largest error 0.0 % in the 1 of 2 rows that are valid"))
      << comparison.conclusion;
}

TEST(CompareRuns, AnOptimizerOfItsOwnConstantsIsPricedByItsRule) {
  records::RunRecord rule = run("bsp", 1), own = rule;
  rule.configuration.optimizer = "adamw";
  own.configuration.optimizer = "bert-adamw";
  const Comparison comparison = compare({rule, own});
  ASSERT_TRUE(comparison.cases.at(0).predicted_s);
  EXPECT_EQ(comparison.cases.at(1).predicted_s, comparison.cases.at(0).predicted_s);
}

/// A step in which nothing overlaps with the codec's kernels.
records::RunRecord coded(const std::string& strategy, double coding_s) {
  records::RunRecord record = run(strategy, 1);
  record.configuration.ranks = 4;
  record.configuration.replay =
      std::string(PACELINE_SOURCE_DIR) + "/benchmarks/translator.profile.json";
  record.configuration.link = "2Gbit,100us";
  record.coding = {.ns_per_step = std::llround(coding_s * 1e9), .plain_bytes_per_step = 1};
  return record;
}

ComparedCase compare_coded(const std::vector<records::RunRecord>& records) {
  return compare_runs(records, {}).value().cases.at(0);
}

// The second codes in every third step, whose mean is what is compared.
TEST(CompareRuns, PricesACodecWithoutTimesByItsMeasuredOnes) {
  for (const char* strategy : {"bsp+fp16", "bsp+fp16+diloco:every=3"}) {
    SCOPED_TRACE(strategy);
    const ComparedCase one = compare_coded({coded(strategy, 1)});
    EXPECT_EQ(one.note, "coding as measured");
    EXPECT_NEAR(*compare_coded({coded(strategy, 3)}).predicted_s, *one.predicted_s + 2, 1e-6);
    EXPECT_NEAR(*compare_coded({coded(strategy, 2), coded(strategy, 4)}).predicted_s,
                *one.predicted_s + 2, 1e-6);
  }
  records::RunRecord without = coded("bsp+fp16", 1);
  without.coding.reset();
  EXPECT_EQ(compare_coded({without}).note, "");
}

TEST(CompareRuns, NeedsADescribedNetwork) {
  EXPECT_EQ(compare_runs(std::vector{run("bsp", 1)}, {}), std::nullopt);
}

}  // namespace
}  // namespace paceline::predict
