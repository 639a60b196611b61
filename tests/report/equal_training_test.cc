// SPDX-License-Identifier: Apache-2.0
// Programs that do not train the same get no verdict, and say so wherever their figures are.
#include "paceline/report/equal_training.h"

#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/records/json.h"
#include "paceline/report/diff.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/formats.h"
#include "paceline/report/summary.h"
#include "paceline/report/summary_json.h"

namespace paceline::report {
namespace {

using records::RunRecord;

RunRecord trained(const char* framework, int run = 0) {
  RunRecord record;
  record.source = records::Source::kExternal;
  record.experiment = "run";
  record.run = run;
  cases::Case& c = record.configuration;
  c.framework = c.label = framework;
  c.strategy = "external";
  c.model = "lenet";
  c.batch_size = 8;
  c.ranks = 1;
  c.optimizer = "sgd";
  c.learning_rate = 0.001;
  c.momentum = 0.9;
  c.weight_decay = 1e-4;
  c.warmup = 5;
  c.steps = 10;
  record.ranks.resize(1);
  record.ranks[0].step_ns.assign(10, 8'000'000 + run * 1000);
  record.ranks[0].window_ns = 10 * record.ranks[0].step_ns[0];
  record.adapter = {{"parameters", "61706"},       {"loss_first", "3.084"},
                    {"loss_fifth", "2.1"},         {"loss", "1.17"},
                    {"update_norm_fifth", "0.02"}, {"weights_norm_fifth", "3.0"},
                    {"update_norm_last", "0.06"},  {"weights_norm_last", "3.0"}};
  return record;
}

bool is_marked(const RunRecord& other) {
  const std::vector<RunRecord> records{trained("a"), other};
  return summarize(records)[0].rows[1].not_comparable.has_value();
}

TEST(EqualTraining, EachQuantityHasThePrecisionThatTells) {
  for (const auto& [name, rounded, wrong] :
       {std::tuple{"loss_first", "3.0841", "3.09"}, std::tuple{"loss_fifth", "2.1001", "2.11"},
        std::tuple{"loss", "1.1701", "1.19"}, std::tuple{"update_norm_fifth", "0.020002", "0.0201"},
        std::tuple{"update_norm_last", "0.06002", "0.061"},
        std::tuple{"weights_norm_fifth", "3.0000001", "3.000004"},
        std::tuple{"weights_norm_last", "3.000001", "3.000024"}}) {
    RunRecord other = trained("b");
    other.adapter[name] = rounded;
    EXPECT_FALSE(is_marked(other)) << name;
    other.adapter[name] = wrong;
    EXPECT_TRUE(is_marked(other)) << name;
    other.configuration.learning_rate = 0.002;  // another training
    EXPECT_FALSE(is_marked(other)) << name;
  }
}

// A loss near zero has the rounding of the first.
TEST(EqualTraining, SmallLossesAreMeasuredByTheFirst) {
  std::vector<RunRecord> records{trained("a"), trained("b")};
  records[0].adapter["loss_fifth"] = "0.00112";
  records[1].adapter["loss_fifth"] = "0.001126";
  EXPECT_TRUE(not_comparable(records).empty());
}

TEST(EqualTraining, EveryOutputMarksTheCell) {
  std::vector<RunRecord> records{trained("a"), trained("b")};
  records[1].adapter["loss_fifth"] = "2.5";
  for (const char* format : {"table", "markdown", "csv", "json", "dlperf"}) {
    const std::string text = find_format(format).render(records);
    EXPECT_NE(text.find("(not comparable)"), std::string::npos) << text;
  }
  const auto parsed = records::Json::parse(render_json(records));
  EXPECT_TRUE(parsed["cases"][0]["not_comparable"].is_null());
  EXPECT_EQ(parsed["cases"][1]["not_comparable"], "its loss of the fifth step is 2.5, a's 2.1");
}

TEST(EqualTraining, ADiffGivesNoVerdictOfSuchAPair) {
  std::vector<RunRecord> base;
  std::vector<RunRecord> test;
  for (int run = 0; run < 6; ++run) {
    base.push_back(trained("a", run));
    test.push_back(trained("a", run));
    test.back().adapter["loss_first"] = "2.5";
    test.back().ranks[0].step_ns.assign(10, 4'000'000 + run);
  }
  const Diff diff = diff_records(base, test);
  ASSERT_EQ(diff.rows.size(), 1U);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kNotComparable);
  EXPECT_FALSE(diff.rows[0].change);
  EXPECT_NE(render_diff("json", diff)
                .find("the loss of the first step is 3.084 in the base, 2.5 in the test"),
            std::string::npos);
  for (RunRecord& record : test) {
    record.adapter["loss_first"] = "3.084";
  }
  EXPECT_EQ(diff_records(base, test).rows[0].verdict, Verdict::kFaster);
}

TEST(EqualTraining, ParametersAndFlopsAreComparedExactly) {
  for (const char* name : {"parameters", "flops"}) {
    RunRecord other = trained("b");
    other.adapter["flops"] = "8178368512";
    EXPECT_FALSE(is_marked(other)) << name;
    std::vector<RunRecord> records{other, other};
    records[1].configuration.framework = records[1].configuration.label = "c";
    records[1].configuration.learning_rate = 1;  // of equal networks, whatever is trained
    EXPECT_TRUE(not_comparable(records).empty());
    records[1].adapter[name] = "8178368514";
    EXPECT_EQ(not_comparable(records).size(), 1U) << name;
  }
}

// Each quantity against the first case that says it.
TEST(EqualTraining, WhatOneDoesNotSayIsComparedAmongTheOthers) {
  std::vector<RunRecord> records{trained("a"), trained("b"), trained("c")};
  records[0].adapter.erase("loss_fifth");
  records[2].adapter["loss_fifth"] = "2.2";
  const auto found = not_comparable(records);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.at(&records[2]), "its loss of the fifth step is 2.2, b's 2.1");
}

// Neighbors of a bf16 loss are up to 1/128 apart, and steps enlarge that.
TEST(EqualTraining, OfReducedPrecisionTheFirstLossIsCompared) {
  for (const auto& [dtype, is_reduced] :
       {std::pair{"bf16", true}, {"amp", true}, {"fp32", false}}) {
    std::vector<RunRecord> records{trained("a"), trained("b"), trained("c"), trained("d")};
    for (RunRecord& record : records) {
      record.configuration.dtype = dtype;
      record.adapter["loss_first"] = "2.125";
    }
    records[1].adapter["loss_first"] = "2.14";
    records[2].adapter["loss_first"] = "2.53";
    records[3].adapter["loss_fifth"] = "2.2";
    const auto found = not_comparable(records);
    EXPECT_TRUE(found.contains(&records[2])) << dtype;
    EXPECT_NE(found.contains(&records[1]), is_reduced) << dtype;
    EXPECT_NE(found.contains(&records[3]), is_reduced) << dtype;
  }
}

// There is no rate where a source does not say the samples, or they vary.
TEST(RunsJson, ARateIsOfStatedSamples) {
  const auto rate_of = [](const RunRecord& record) {
    return Json::parse(render_json(std::span(&record, 1)))["runs"][0]["samples_per_s"];
  };
  const RunRecord good = trained("a");
  EXPECT_EQ(rate_of(good), 1000.0);
  for (const char* key : {"batch_size", "ranks"}) {
    RunRecord record = good;
    record.configuration.unstated = {key};
    EXPECT_TRUE(rate_of(record).is_null()) << key;
  }
  RunRecord with_tables = good;
  with_tables.configuration.model = "hybrid";
  EXPECT_TRUE(rate_of(with_tables).is_null());
  RunRecord printed = good;
  printed.adapter["reported_samples_per_s"] = "12.5";
  EXPECT_EQ(rate_of(printed), 12.5);
}

TEST(RunsJson, NamesEnvironmentsByTheirIndices) {
  std::vector<RunRecord> records{trained("a"), trained("b"), trained("a", 1)};
  records[1].environment.torch_version = "2";
  const Json data = Json::parse(render_json(records));
  EXPECT_EQ(data["environments"].size(), 2U);
  EXPECT_EQ(data["runs"][1]["environment"], 1);
  EXPECT_EQ(data["runs"][2]["environment"], 0);
  EXPECT_EQ(data["runs"][0]["window_s"], 0.08);
  EXPECT_FALSE(data["runs"][0].contains("ranks")) << "no samples of steps";
}

// Paceline's own strategies say what they keep.
TEST(EqualTraining, StrategiesThatTrainOtherwiseAreNoReference) {
  std::vector<RunRecord> records{trained("a"), trained("b"), trained("c")};
  cases::Case& c = records[0].configuration;
  records[0].source = records::Source::kMeasured;
  c.framework.clear();
  c.label.clear();
  c.strategy = "local-sgd";
  c.ranks = records[1].configuration.ranks = records[2].configuration.ranks = 2;
  records[0].adapter["loss_fifth"] = "2.9";
  EXPECT_TRUE(not_comparable(records).empty());
  c.strategy = "bsp";
  EXPECT_EQ(not_comparable(records).size(), 2U);
}

}  // namespace
}  // namespace paceline::report
