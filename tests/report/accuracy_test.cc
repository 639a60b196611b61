// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/accuracy.h"

#include <gtest/gtest.h>

#include "paceline/report/console.h"

namespace paceline::report {
namespace {

/// Two ranks, evaluated before training and after 10 and 20 steps, whose accuracy grows to `last`;
/// their losses are the errors.
records::RunRecord trained(const std::string& label, std::uint64_t seed, double last) {
  records::RunRecord record;
  cases::Case& c = record.configuration;
  c.label = label;
  c.strategy = "fusion+" + label;
  c.model = "mlp";
  c.data = "digits";
  c.ranks = 2;
  c.seed = seed;
  c.warmup = 0;
  c.steps = 20;
  c.target = 0.8;
  for (int rank = 0; rank < 2; ++rank) {
    records::RankSamples samples;
    samples.rank = rank;
    for (const int step : {0, 10, 20}) {
      // The ranks lie 0.02 apart.
      const double accuracy = last * step / 20 + (rank == 0 ? 0.01 : -0.01);
      samples.evaluations.push_back({.step = step,
                                     .trained_ns = step * 1'000'000 + rank,
                                     .sent_bytes = step * 100'000,
                                     .loss = 1 - accuracy,
                                     .accuracy = accuracy});
    }
    record.ranks.push_back(samples);
  }
  return record;
}

std::vector<Table> tables_of(std::span<const records::RunRecord> records) {
  std::vector<Table> tables;
  for (const TrainingCurves& curves : training_curves(records)) {
    tables.push_back(curves.table);
  }
  return tables;
}

TEST(Accuracy, IsTheMeanOverRanksAndTheMedianOverSeeds) {
  const std::vector<records::RunRecord> records{trained("a", 0, 0.90), trained("a", 1, 0.92),
                                                trained("a", 2, 0.91), trained("b", 0, 0.70)};
  const auto tables = tables_of(records);
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].title,
            "mlp on digits, split even, batch 32 per rank, 20 steps, target "
            "0.8");
  ASSERT_EQ(tables[0].rows.size(), 2u);
  const auto& a = tables[0].rows[0].cells;
  EXPECT_EQ(a[0], "a");
  EXPECT_EQ(a[2], "3");
  EXPECT_TRUE(a[3].starts_with("0.09 [")) << a[3];
  EXPECT_TRUE(a[4].starts_with("91.0 [")) << a[4];
  EXPECT_EQ(a[5], "3 of 3");
  EXPECT_TRUE(a[6].starts_with("20")) << a[6];
  EXPECT_TRUE(a[7].starts_with("0.02")) << a[7];
  EXPECT_TRUE(a[8].starts_with("2")) << a[8];
  const auto& b = tables[0].rows[1].cells;
  EXPECT_EQ(b[4], "70.0");
  EXPECT_EQ(b[5], "0 of 1");
  EXPECT_EQ(b[6], "-");
}

TEST(Accuracy, OfARegressionIsItsLossAndTheTargetAnUpperLimit) {
  records::RunRecord record = trained("a", 0, 0.9);
  record.configuration.target = 0.6;
  for (records::RankSamples& rank : record.ranks) {
    for (records::Evaluation& one : rank.evaluations) {
      one.accuracy.reset();
    }
  }
  record.ranks[1].evaluations[2].loss.reset();
  const auto tables = tables_of(std::vector{record});
  const auto& cells = tables[0].rows[0].cells;
  EXPECT_EQ(cells[3], "not finite");
  EXPECT_EQ(cells[4], "-");
  EXPECT_EQ(cells[5], "1 of 1");
  EXPECT_EQ(cells[6], "10");
}

/// Steps of 3 ms, then 5 ms, on the slower of two ranks.
records::RunRecord predicted(const std::string& label, int ranks) {
  records::RunRecord record;
  record.source = records::Source::kPredicted;
  record.configuration = trained(label, 0, 0).configuration;
  record.configuration.data = "";
  record.configuration.ranks = ranks;
  record.configuration.cluster = "two hosts; prices 12345678";
  for (const std::int64_t first : {1'000'000, 3'000'000}) {
    records::RankSamples samples;
    samples.step_ns = {first, 5'000'000};
    record.ranks.push_back(samples);
  }
  return record;
}

TEST(Accuracy, TakesPredictedStepsForTimeToTheTarget) {
  const std::vector<records::RunRecord> records{trained("a", 0, 0.9), trained("b", 0, 0.9),
                                                trained("c", 0, 0.7), predicted("a", 2),
                                                predicted("b", 4),    predicted("c", 2)};
  const auto tables = tables_of(records);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].columns.size(), 10u);
  EXPECT_EQ(tables[0].columns[9].name, "s on cluster 1");
  EXPECT_EQ(tables[0].text, "Cluster 1: two hosts.");
  EXPECT_EQ(tables[0].rows[0].cells[9], "0.08") << "20 steps of 4 ms";
  EXPECT_EQ(tables[0].rows[1].cells[9], "-") << "predicted of other ranks";
  EXPECT_EQ(tables[0].rows[2].cells[9], "-") << "never reached";
}

TEST(Accuracy, KeepsRatesOfTheDeviceApart) {
  std::vector<records::RunRecord> records{trained("a", 0, 0.9)};
  for (const char* cluster : {"two; device 50 samples/s; prices 1; layers 1",
                              "two; device 90 samples/s; prices 1; layers 2",
                              "two; device 90 samples/s; prices 1; layers 3"}) {
    records.push_back(predicted("a", 2));
    records.back().configuration.cluster = cluster;
  }
  records.back().ranks[1].step_ns = {10'000'000, 10'000'000};
  const auto tables = tables_of(records);
  ASSERT_EQ(tables.at(0).columns.size(), 11u);
  EXPECT_EQ(tables[0].columns[10].name, "s on cluster 2");
  EXPECT_EQ(tables[0].text,
            "Cluster 1: two; device 50 samples/s.\n"
            "Cluster 2: two; device 90 samples/s.");
  EXPECT_EQ(tables[0].rows[0].cells[9], "0.08");
  EXPECT_EQ(tables[0].rows[0].cells[10], "0.2") << "the newest of two profiles";
  records.back().configuration.cluster = "two; device 90 samples/s; prices 2; layers 3";
  EXPECT_TRUE(
      tables_of(records)[0].text.ends_with("Cluster 3: two; device 90 samples/s; prices 2."));
}

TEST(Accuracy, PricesTheDataThatAPredictionNames) {
  std::vector<records::RunRecord> records{trained("a", 0, 0.9), predicted("a", 2)};
  records[1].configuration.data = "teacher";
  EXPECT_EQ(tables_of(records)[0].columns.size(), 9u);
  EXPECT_EQ(tables_of(records)[0].text, "");
  records[1].configuration.data = "digits";
  EXPECT_EQ(tables_of(records)[0].columns.size(), 10u);
}

TEST(Accuracy, CurvesAreMediansOverSeedsWithTheStepsPrediction) {
  const std::vector<records::RunRecord> records{trained("a", 0, 0.90), trained("a", 1, 0.92),
                                                trained("a", 2, 0.80), trained("b", 0, 0.70),
                                                predicted("a", 2)};
  const auto curves = training_curves(records);
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].clusters, std::vector<std::string>{"two hosts"});
  EXPECT_EQ(curves[0].target, 0.8);
  ASSERT_EQ(curves[0].cases.size(), 2u);
  const TrainingCurve& a = curves[0].cases[0];
  ASSERT_EQ(a.points.size(), 3u);
  EXPECT_EQ(a.points[1].step, 10);
  EXPECT_DOUBLE_EQ(*a.points[1].accuracy, 0.45);
  EXPECT_DOUBLE_EQ(a.points[1].bytes, 1e6);
  EXPECT_DOUBLE_EQ(a.points[2].seconds, 0.020000001);
  EXPECT_DOUBLE_EQ(a.predicted_step_s[0].value_or(0), 0.004);
  EXPECT_FALSE(curves[0].cases[1].predicted_step_s[0].has_value());
}

TEST(Accuracy, IsAbsentWithoutData) {
  EXPECT_TRUE(tables_of(std::vector{records::RunRecord{}}).empty());
}

}  // namespace
}  // namespace paceline::report
