// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paceline/report/diff_formats.h"
#include "paceline/report/formats.h"
#include "paceline/report/operations.h"
#include "report/fixed_diff.h"

namespace paceline::report {
namespace {

using records::RunRecord;

std::vector<std::string> codes(const Diff& diff) {
  std::vector<std::string> codes;
  for (const records::Warning& w : diff.warnings) {
    codes.push_back(w.code);
  }
  return codes;
}

TEST(Diff, ARowHasTheNamesOfBothSidesWhereTheyDiffer) {
  const std::vector<RunRecord> base{fixed_record({"", "ddp", 2, 100}),
                                    fixed_record({"", "ddp", 4, 100}),
                                    fixed_record({"", "bsp", 8, 100})};
  std::vector<RunRecord> test = base;
  test[0].configuration.strategy = test[1].configuration.strategy = "fusion";
  const Diff diff = diff_records(base, test);
  ASSERT_EQ(diff.rows.size(), 3u);
  EXPECT_EQ(diff.rows[0].label, "ddp ranks=2 -> fusion");
  EXPECT_EQ(diff.rows[1].label, "ddp ranks=4 -> fusion");
  EXPECT_EQ(diff.rows[2].label, "bsp");
  EXPECT_NE(render_diff("table", diff).find("ddp ranks=2 -> fusion"), std::string::npos);
}

TEST(Diff, WholeCommandsAreKnownByTheirRecords) {
  std::vector<RunRecord> base;
  std::vector<RunRecord> test;
  for (int run = 0; run < 6; ++run) {
    const auto record = [run](const char* command, std::int64_t wall_ns) {
      RunRecord one =
          wall_time_record(command, fmt::format("2024-05-06T07:0{}:00Z", run), {}, wall_ns);
      one.run = run;
      return one;
    };
    base.push_back(record("old", 1'000'000'000 + run));
    test.push_back(record("new", 2'000'000'000 + run));
  }
  const Diff diff = diff_records(base, test);
  EXPECT_TRUE(diff.wall_times);
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].label, "wall time");
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kSlower);
  EXPECT_EQ(nlohmann::json::parse(render_diff("json", diff))["compared"], "wall time of commands");
  for (const char* name : {"table", "markdown"}) {
    const std::string text = render_diff(name, diff);
    for (const char* words : {"step", "rank", "batch"}) {
      EXPECT_EQ(text.find(words), std::string::npos) << text;
    }
  }
  base.push_back(fixed_record({"a", "ddp", 2, 100}));
  test.push_back(base.back());
  EXPECT_FALSE(diff_records(base, test).wall_times);
}

TEST(Diff, SlowerIsProvenFromSixPairsOn) {
  const Sides sides = repeated(6, 1.05);
  const Diff diff = diff_records(sides.base, sides.test);
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.order, RunOrder::kInterleaved);
  EXPECT_EQ(diff.arrangements, 64);
  EXPECT_TRUE(diff.exact);
  EXPECT_NEAR(*diff.rows[0].corrected_p, 2 / 64.0, 1e-12);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kSlower);
  EXPECT_TRUE(diff.regression());
  EXPECT_TRUE(diff.warnings.empty());
}

TEST(Diff, FasterIsNoRegression) {
  const Sides sides = repeated(6, 0.95);
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kFaster);
  EXPECT_FALSE(diff.regression());
}

TEST(Diff, TheIntervalMustLieBeyondTheThreshold) {
  const Sides sides = repeated(8, 1.05);
  const auto verdict = [&](double threshold) {
    return diff_records(sides.base, sides.test, {.threshold = threshold}).rows[0].verdict;
  };
  EXPECT_EQ(verdict(0.01), Verdict::kSlower);
  EXPECT_EQ(verdict(0.05), Verdict::kUndecided);  // significant, yet not so far
  EXPECT_EQ(verdict(0.1), Verdict::kUnchanged);
}

TEST(Diff, FiveRunsSayThatSixAreNeeded) {
  const Sides sides = repeated(5, 1.5);
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kTooFewRuns);
  EXPECT_EQ(diff.needed_runs, 6u);
  EXPECT_FALSE(diff.regression());
  EXPECT_NE(render_diff("markdown", diff)
                .find("too few runs (6 a side are needed for p \\< 0.05): 1M/2G"),
            std::string::npos);
}

TEST(Diff, NothingIsClaimedWhereNothingChanged) {
  const Sides sides = repeated(8, 1.0);
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kUnproven);
  EXPECT_GT(*diff.rows[0].p, 0.05);
}

TEST(Diff, RunsApartArePermutedFreelyAndSaidToBe) {
  Sides sides = repeated(4, 1.05);
  for (RunRecord& r : sides.test) {
    r.started_at[8] = '9';  // another day
  }
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(diff.order, RunOrder::kApart);
  EXPECT_EQ(diff.arrangements, 70);  // C(8, 4)
  EXPECT_NEAR(*diff.rows[0].p, 2 / 70.0, 1e-12);
  EXPECT_EQ(codes(diff), std::vector<std::string>{"not-interleaved"});
  for (RunRecord& r : sides.test) {
    r.started_at.clear();
  }
  EXPECT_EQ(diff_records(sides.base, sides.test).order, RunOrder::kUnknown);
}

TEST(Diff, TheChangeIsThatOfPairs) {
  // Each run is 10 % slower than the one before, and the test 1 % slower than the base in each:
  // only pairs see it.
  Sides sides = repeated(6, 1);
  for (int run = 0; run < 6; ++run) {
    for (const bool test : {false, true}) {
      RunRecord& r = (test ? sides.test : sides.base)[std::size_t(run)];
      for (records::RankSamples& rank : r.ranks) {
        const double ms = 100 * std::pow(1.1, run) * (test ? 1.01 : 1);
        rank.step_ns.assign(10, std::llround(ms * 1e6));
      }
    }
  }
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_NEAR(diff.rows[0].change->value, 0.01, 1e-6);
  EXPECT_NEAR(diff.rows[0].change->interval->low, 0.01, 1e-6);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kSlower);
}

TEST(Diff, OtherMachinesAreNamedFactByFact) {
  Sides sides = repeated(6, 1);
  for (RunRecord& r : sides.test) {
    r.environment.hosts[0].facts = {{"cpu_model", "B"}, {"kernel", "6.1"}};
    r.environment.torch_version = "2.14.0";
    r.environment.variables = {{"OMP_NUM_THREADS", "2"}};
  }
  for (RunRecord& r : sides.base) {
    r.environment.hosts[0].facts = {{"cpu_model", "A"}, {"kernel", "5.1"}, {"load_average", "9"}};
  }
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(codes(diff), (std::vector<std::string>{"machines-differ", "machines-differ"}));
  EXPECT_EQ(diff.warnings[0].seen, "cpu_model: A on the base; B on the test");
  EXPECT_EQ(diff.software, (std::vector<Difference>{{"OMP_NUM_THREADS", "-", "2"},
                                                    {"torch_version", "2.13.0+cpu", "2.14.0"}}));
}

TEST(Diff, WarningsOfAllFiguresAreCarriedOnOnce) {
  Sides sides = repeated(6, 1);
  for (std::size_t i = 0; i < sides.base.size(); ++i) {
    sides.base[i].warnings = {
        {"busy-machine", "load " + std::to_string(i), "others compute", "wait"},
        {"shortened-protocol", "5 steps", "the protocol has 100", "leave out"},
        {"few-samples", "5 steps", "", ""}};
  }
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(codes(diff), (std::vector<std::string>{"busy-machine", "shortened-protocol"}));
}

TEST(Diff, ASideWithoutSamplesIsSaidToHaveNone) {
  Sides sides = repeated(6, 1);
  for (RunRecord& r : sides.test) {
    r.ranks.clear();
    r.error = "rank 1 on a: killed by signal 9";
  }
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kNoSamples);
  EXPECT_FALSE(diff.rows[0].p.has_value());
  EXPECT_EQ(codes(diff), std::vector<std::string>{"failed-runs"});
  for (const std::string& format : diff_format_names()) {
    EXPECT_FALSE(render_diff(format, diff).empty());
  }
}

TEST(Diff, StepsThatTookNoTimeAreNotCompared) {
  Sides sides = repeated(6, 1);
  for (records::RankSamples& rank : sides.test[0].ranks) {
    rank.step_ns[3] = 0;
  }
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(diff.rows[0].test_runs, 5u);
}

TEST(Diff, NothingToCompareIsSaid) {
  const Diff diff = diff_records({}, {});
  EXPECT_FALSE(diff.regression());
  for (const std::string& format : diff_format_names()) {
    EXPECT_FALSE(render_diff(format, diff).empty()) << format;
  }
}

// Every other step of the test takes half of the time, the rest half as much again: medians differ,
// all steps together take as long.
TEST(Diff, MeansSayWhatMediansOfStepsInTwoGroupsHide) {
  Sides sides = repeated(6, 1);
  for (int run = 0; run < 6; ++run) {
    for (const bool test : {false, true}) {
      for (records::RankSamples& rank :
           (test ? sides.test : sides.base)[static_cast<std::size_t>(run)].ranks) {
        rank.step_ns.assign(9, 100'000'000);
        for (std::size_t i = 0; test && i < 9; ++i) {
          rank.step_ns[i] = i < 5 ? 60'000'000 : 150'000'000;
        }
        rank.window_ns = 900'000'000;
      }
    }
  }
  Diff diff = diff_records(sides.base, sides.test);
  EXPECT_DOUBLE_EQ(diff.rows[0].change->value, -0.4);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kFaster);

  const DiffOptions means{.step_time = StepTime::kMean};
  diff = diff_records(sides.base, sides.test, means);
  EXPECT_DOUBLE_EQ(diff.rows[0].base_s->value, 0.1);
  EXPECT_DOUBLE_EQ(diff.rows[0].change->value, 0);
  EXPECT_DOUBLE_EQ(*diff.rows[0].p, 1);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kUnproven);
  EXPECT_NE(render_diff("table", diff).find("mean step"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(render_diff("json", diff))["compared"], "mean step time");

  // The rank that takes longest counts; without a window its steps do.
  for (RunRecord& run : sides.test) {
    run.ranks[1].window_ns = 1'800'000'000;
    run.ranks[0].window_ns = 0;
  }
  diff = diff_records(sides.base, sides.test, means);
  EXPECT_DOUBLE_EQ(diff.rows[0].change->value, 1);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kSlower);
  for (RunRecord& run : sides.test) {
    run.ranks.resize(1);
  }
  diff = diff_records(sides.base, sides.test, means);
  EXPECT_DOUBLE_EQ(diff.rows[0].change->value, 0);
}

TEST(Diff, CasesOfOtherBatchSizesHaveOtherNames) {
  Sides sides = repeated(8, 1.1);
  for (auto* side : {&sides.base, &sides.test}) {
    const std::vector<RunRecord> small = *side;
    for (RunRecord r : small) {
      r.configuration.batch_size *= 2;
      side->push_back(r);
    }
  }
  const Diff diff = diff_records(sides.base, sides.test);
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(diff.rows[0].name, "resnet50 batch 32 1M/2G");
  EXPECT_EQ(diff.rows[1].name, "resnet50 batch 64 1M/2G");
  EXPECT_EQ(diff.rows[0].label, diff.rows[1].label);
}

}  // namespace
}  // namespace paceline::report
