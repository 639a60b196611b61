// SPDX-License-Identifier: Apache-2.0
// Programs that do not train the same get no verdict, and say so wherever their figures are.
#include "paceline/report/equal_training.h"

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/records/json.h"
#include "paceline/report/diff.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/formats.h"
#include "paceline/report/summary.h"

namespace paceline::report {
namespace {

using records::RunRecord;

RunRecord trained(const char* framework, int run = 0) {
  RunRecord record;
  record.source = records::Source::kExternal;
  record.experiment = "run";
  record.run = run;
  records::Configuration& c = record.configuration;
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
  EXPECT_EQ(parsed["cases"][1]["not_comparable"],
            "not comparable: on 1n1d its loss of the fifth step is 2.5, a's "
            "2.1");
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
  EXPECT_NE(render_diff_json(diff).find(
                "the loss of the first step is 3.084 in the base, 2.5 in the test"),
            std::string::npos);
  for (RunRecord& record : test) {
    record.adapter["loss_first"] = "3.084";
  }
  EXPECT_EQ(diff_records(base, test).rows[0].verdict, Verdict::kFaster);
}

// Paceline's own strategies say what they keep.
TEST(EqualTraining, StrategiesThatTrainOtherwiseAreNoReference) {
  std::vector<RunRecord> records{trained("a"), trained("b"), trained("c")};
  records::Configuration& c = records[0].configuration;
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
