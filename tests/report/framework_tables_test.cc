// SPDX-License-Identifier: Apache-2.0
// Programs beside each other: which runs are a column, and which columns do not train the same.
#include "paceline/report/framework_tables.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace paceline::report {
namespace {

bool any_finding(const std::vector<Finding>& all, const std::string& column,
                 const std::string& words) {
  return std::ranges::any_of(all, [&](const Finding& one) {
    return one.column == column && one.text.find(words) != std::string::npos;
  });
}

// A measured run of one rank whose loss is said.
records::RunRecord measured(const std::string& framework, int ranks, std::int64_t step_ns,
                            const std::string& loss, int run = 0) {
  records::RunRecord record;
  record.source = records::Source::kExternal;
  record.experiment = "frameworks";
  record.run = run;
  records::Configuration& c = record.configuration;
  c.framework = c.label = framework;
  c.strategy = "external";
  c.model = "lenet";
  c.batch_size = 8;
  c.ranks = ranks;
  record.ranks.resize(1);
  record.ranks[0].step_ns.assign(10, step_ns);
  record.ranks[0].window_ns = 10 * step_ns;
  record.adapter = {{"loss_first", loss}, {"parameters", "61706"}};
  return record;
}

TEST(Frameworks, FiguresAreMediansOfRunsOverTheWindow) {
  const std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5", 0),
                                                measured("a", 1, 4'000'000, "2.5", 1),
                                                measured("a", 1, 16'000'000, "2.5", 2)};
  const auto tables = framework_tables(records);
  ASSERT_EQ(tables.size(), 1U);
  const FrameworkCell& cell = tables[0].columns[0].cells.at({1, 1});
  EXPECT_DOUBLE_EQ(cell.rate->value, 1000.0);
  EXPECT_TRUE(cell.rate->interval.has_value());
}

TEST(Frameworks, RunsOfOtherSettingsAreOtherColumns) {
  std::vector<records::RunRecord> records(5, measured("", 1, 8'000'000, "2.5"));
  for (records::RunRecord& record : records) {
    record.configuration.label = "fusion";
  }
  records[1].configuration.clip_norm = 1;
  records[2].configuration.image_size = 64;
  records[3].configuration.data = "mnist";
  // A run like the first, on more devices: fewer threads, another seed.
  records[4].configuration.ranks = 2;
  records[4].configuration.seed = 7;
  records[4].configuration.threads = records[0].configuration.threads + 1;
  const auto tables = framework_tables(records);
  ASSERT_EQ(tables.size(), 1U);
  std::vector<std::string> titles;
  for (const FrameworkColumn& column : tables[0].columns) {
    titles.push_back(column.title);
    EXPECT_EQ(column.cells.at({1, 1}).runs.size(), 1U) << column.title;
  }
  const std::string usual = fmt::format(" image_size={}", records[0].configuration.image_size);
  EXPECT_EQ(titles,
            (std::vector<std::string>{
                "paceline fusion" + usual, "paceline fusion" + usual + " clip_norm=1",
                "paceline fusion image_size=64", "paceline fusion" + usual + " data=mnist"}));
  EXPECT_EQ(tables[0].columns[0].cells.size(), 2U);
}

TEST(Frameworks, ThreadsThatWereAskedForAreOtherColumns) {
  std::vector<records::RunRecord> records(2, measured("a", 1, 8'000'000, "2.5"));
  records[0].configuration.threads = 1;
  records[1].configuration.threads = 2;
  const auto tables = framework_tables(records);
  ASSERT_EQ(tables[0].columns.size(), 2U);
  EXPECT_EQ(tables[0].columns[1].title, "a threads=2");
}

TEST(Frameworks, OtherMathematicsIsNotComparable) {
  std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                          measured("b", 1, 8'000'000, "2.501"),
                                          measured("c", 1, 8'000'000, "2.51")};
  const auto tables = framework_tables(records);
  const auto all = unequal_training(tables[0]);
  EXPECT_TRUE(any_finding(all, "c", "not comparable"));
  EXPECT_FALSE(any_finding(all, "b", "not comparable"));
}

// There is none where a source does not say the samples, or they vary.
TEST(Frameworks, ARateIsOfStatedSamples) {
  const records::RunRecord good = measured("a", 1, 8'000'000, "2.5");
  EXPECT_DOUBLE_EQ(*rate_of(good), 1000.0);
  for (const char* key : {"batch_size", "ranks"}) {
    records::RunRecord record = good;
    record.configuration.unstated = {key};
    EXPECT_FALSE(rate_of(record)) << key;
  }
  records::RunRecord log = good;
  log.source = records::Source::kImported;
  log.configuration.unstated = {"batch_size", "ranks", "dtype"};
  log.configuration.batch_size = 0;
  log.configuration.dtype = "";
  const std::vector<records::RunRecord> records{log};
  const Json table = comparison_data(records)["comparisons"][0];
  EXPECT_TRUE(table["batch_size"].is_null());
  EXPECT_TRUE(table["dtype"].is_null());
  EXPECT_TRUE(table["devices"][0]["devices"].is_null());
  records::RunRecord with_tables = good;
  with_tables.configuration.model = "hybrid";
  EXPECT_FALSE(rate_of(with_tables));
}

// What reports in Python are made from.
TEST(Frameworks, DataNamesRunsAndEnvironmentsByTheirIndices) {
  std::vector<records::RunRecord> records{
      measured("a", 1, 8'000'000, "2.5"), measured("b", 1, 8'000'000, "2.6"),
      measured("a", 2, 8'000'000, "2.5"), measured("a", 1, 4'000'000, "2.5")};
  records[1].environment.torch_version = "2";
  records[2].error = "it failed";
  records[2].configuration.discard = true;
  const Json data = comparison_data(records);
  ASSERT_EQ(data["runs"].size(), 4U);
  EXPECT_EQ(data["environments"].size(), 2U);
  EXPECT_EQ(data["runs"][1]["environment"], 1);
  EXPECT_EQ(data["runs"][3]["environment"], 0);
  EXPECT_EQ(data["runs"][3]["samples_per_s"], 2000.0);
  EXPECT_EQ(data["runs"][3]["window_s"], 0.04);
  EXPECT_FALSE(data["runs"][3].contains("ranks")) << "no samples of steps";
  EXPECT_TRUE(data["runs"][2]["samples_per_s"].is_null());
  ASSERT_EQ(data["comparisons"].size(), 1U);
  const Json& table = data["comparisons"][0];
  EXPECT_EQ(table["devices"], Json::parse(R"([{"nodes":1,"devices":1}])"));
  EXPECT_EQ(table["columns"][0]["cells"],
            Json::parse(R"([{"nodes":1,"devices":1,"samples_per_s":1500.0,
                "samples_per_s_low":null,"samples_per_s_high":null,
                "runs":[0,3]}])"));
  EXPECT_EQ(table["unequal_training"].front(),
            Json::parse(R"({"column":"b","text":"not comparable: on 1n1d its )"
                        R"(loss of the first step is 2.6, a's 2.5",)"
                        R"("excludes":true,"where":{"nodes":1,"devices":1}})"));
}

TEST(Frameworks, ParametersAndFlopsAreComparedExactly) {
  for (const char* name : {"parameters", "flops"}) {
    std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                            measured("b", 1, 8'000'000, "2.5"),
                                            measured("c", 1, 8'000'000, "2.5")};
    for (records::RunRecord& record : records) {
      record.adapter[name] = "8178368512";
    }
    records[2].adapter[name] = "8178368514";
    const auto all = unequal_training(framework_tables(records)[0]);
    EXPECT_TRUE(any_finding(all, "c", "not comparable")) << name;
    EXPECT_FALSE(any_finding(all, "b", "not comparable")) << name;
  }
}

// Each quantity against the first column that says it.
TEST(Frameworks, WhatAColumnDoesNotSayIsComparedAmongTheOthers) {
  std::vector<records::RunRecord> records{
      measured("a", 1, 8'000'000, "2.5"), measured("b", 1, 8'000'000, "2.5"),
      measured("c", 1, 8'000'000, "2.5"), measured("d", 1, 8'000'000, "2.5")};
  for (records::RunRecord& record : records) {
    record.adapter["flops"] = "9";
    record.adapter["loss_fifth"] = "1.5";
    record.configuration.warmup = 1;
    record.configuration.steps = 4;
  }
  records[0].adapter.erase("loss_first");
  records[0].adapter.erase("loss_fifth");
  records[2].adapter["loss_fifth"] = "1.6";
  records[3].adapter.erase("loss_fifth");
  records[3].configuration.steps = 3;
  const auto all = unequal_training(framework_tables(records)[0]);
  EXPECT_TRUE(any_finding(all, "a",
                          "not compared (1n1d): its loss of the first step, loss of the fifth "
                          "step. It does not say this."));
  EXPECT_TRUE(any_finding(all, "c", "the fifth step is 1.6, b's 1.5"));
  EXPECT_TRUE(any_finding(all, "d",
                          "not compared (1n1d): its loss of the fifth step. "
                          "It took 4 steps."));
  EXPECT_FALSE(any_finding(all, "b", "compar"));
}

// Clipping and batches change the loss, and only the same is comparable.
TEST(Frameworks, LossesAreComparedWhereTheSameTrainingWasAskedFor) {
  std::vector<records::RunRecord> records{
      measured("a", 1, 8'000'000, "2.5"), measured("b", 1, 8'000'000, "2.5"),
      measured("a", 1, 8'000'000, "2.9"), measured("b", 1, 8'000'000, "2.9"),
      measured("c", 1, 8'000'000, "2.5"), measured("d", 1, 8'000'000, "3.5")};
  for (const std::size_t i : {2U, 3U, 4U}) {
    records[i].configuration.clip_norm = 1;
  }
  records[5].configuration.learning_rate = 1;
  records[5].adapter["parameters"] = "61707";
  const auto all = unequal_training(framework_tables(records)[0]);
  EXPECT_FALSE(any_finding(all, "a clip_norm=1", "not comparable"));
  EXPECT_FALSE(any_finding(all, "b clip_norm=1", "not comparable"));
  EXPECT_TRUE(any_finding(all, "c", "first step is 2.5, a clip_norm=1's 2.9"));
  EXPECT_TRUE(any_finding(all, "d", "number of parameters is 61707, a's"));
  records[5].adapter["parameters"] = "61706";
  EXPECT_TRUE(any_finding(unequal_training(framework_tables(records)[0]), "d",
                          "not compared (1n1d): its loss of the first step. "
                          "No other column says this of the same settings."));
}

TEST(Frameworks, AGpuSaysTheFifthLossOfAWarmUpAlone) {
  std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                          measured("b", 1, 8'000'000, "2.5")};
  for (records::RunRecord& record : records) {
    record.configuration.device = "cuda";
    record.configuration.warmup = 2;
  }
  const auto all = unequal_training(framework_tables(records)[0]);
  EXPECT_TRUE(any_finding(
      all, "a", "read in a warm-up of at least 5 steps, and the case has a warm-up of 2"));
}

TEST(Frameworks, LossesOfReducedPrecisionAreComparedAsFarAsTheyAreShown) {
  for (const auto& [dtype, is_reduced] :
       {std::pair{"bf16", true}, {"amp", true}, {"fp32", false}}) {
    std::vector<records::RunRecord> records{
        measured("a", 1, 8'000'000, "2.125"), measured("b", 1, 8'000'000, "2.14"),
        measured("c", 1, 8'000'000, "2.53"), measured("d", 1, 8'000'000, "2.125")};
    for (records::RunRecord& record : records) {
      record.configuration.dtype = dtype;
      record.adapter["loss_fifth"] = "1.5";
    }
    records[3].adapter["loss_fifth"] = "1.57";
    const auto all = unequal_training(framework_tables(records)[0]);
    EXPECT_TRUE(any_finding(all, "c", "not comparable")) << dtype;
    EXPECT_NE(any_finding(all, "b", "not comparable"), is_reduced) << dtype;
    EXPECT_NE(any_finding(all, "d", "not comparable"), is_reduced) << dtype;
    EXPECT_TRUE(any_finding(all, "d", "the fifth step is 1.57, a's 1.5")) << dtype;
  }
}

// A column without a figure in some row has a chart of the other rows.

}  // namespace
}  // namespace paceline::report
