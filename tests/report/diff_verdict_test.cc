// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paceline/report/diff.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/diff_steps.h"
#include "report/fixed_diff.h"

namespace paceline::report {
namespace {

using records::RunRecord;
using Missing = std::vector<std::string>;

std::string verdict_line(const Diff& diff) {
  const std::string text = render_diff("markdown", diff);
  return text.substr(text.rfind("verdict"));
}

TEST(DiffVerdict, AnIntervalWithinTheMarginIsNoChange) {
  const Sides sides = repeated(8, 1.0);
  const Diff diff = diff_records(sides.base, sides.test, {.threshold = 0.03});
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kUnchanged);
  EXPECT_EQ(diff.decision(), Decision::kUnchanged);
  EXPECT_EQ(diff.missing, Missing{});
  EXPECT_EQ(diff.unchanged_within(), 0.03);
  EXPECT_NE(verdict_line(diff).find("not changed by more than 3 %"), std::string::npos);
}

TEST(DiffVerdict, WithoutAMarginTheWidestIntervalBoundsTheChange) {
  const Sides sides = repeated(8, 1.0);
  const Diff diff = diff_records(sides.base, sides.test);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kUnproven);
  EXPECT_EQ(diff.decision(), Decision::kUnchanged);
  EXPECT_EQ(diff.unchanged_within(),
            std::max(-diff.rows[0].change->interval->low, diff.rows[0].change->interval->high));
  EXPECT_NE(verdict_line(diff).find("% (the widest interval's end)"), std::string::npos)
      << verdict_line(diff);
  EXPECT_EQ(verdict_line(diff).find("regression"), std::string::npos);
}

TEST(DiffVerdict, WhatIsMissingKeepsItUndecided) {
  const auto missing = [](const Sides& sides) {
    const Diff diff = diff_records(sides.base, sides.test, {.threshold = 0.03});
    EXPECT_EQ(diff.decision(), Decision::kUndecided);
    EXPECT_NE(verdict_line(diff).find("not decided: "), std::string::npos);
    return diff.missing;
  };
  Sides sides = repeated(8, 1.0);
  sides.test.pop_back();
  EXPECT_EQ(missing(sides), Missing{"1M/2G has 8 runs of the base and 7 of the test"});

  sides.base.erase(sides.base.begin());
  EXPECT_EQ(missing(sides), Missing{"1 of 7 runs of 1M/2G have no run in the same turn"});

  sides = repeated(8, 1.0);
  sides.base.push_back(fixed_record({"1M/4G", "ddp", 4, 100}, 0));
  EXPECT_EQ(missing(sides), Missing{"1 case has no partner"});

  sides = repeated(8, 1.0);
  for (RunRecord& r : sides.test) {
    r.warnings.push_back({std::string(records::kLacksExchange), "seen", "why", "advice"});
  }
  EXPECT_EQ(missing(sides), Missing{"INVALID: 1M/2G -> 1M/2G (INVALID)"});
}

// A change of just the threshold is never proven to lie beyond it.
TEST(DiffVerdict, ThePowerIsThatOfTwiceTheThreshold) {
  const Sides sides = repeated(8, 1.0);
  const Diff beyond = diff_records(sides.base, sides.test, {.threshold = 0.01});
  EXPECT_EQ(beyond.power_change, 0.02);
  EXPECT_NE(
      render_diff("markdown", beyond).find("find a change of 2 % nine times in ten beyond 1 %"),
      std::string::npos);
}

// Values that a program computes are equal in all runs.
TEST(DiffVerdict, EqualValuesAreNoCoarseClock) {
  Sides sides = repeated(8, 1.0);
  for (auto* side : {&sides.base, &sides.test}) {
    for (RunRecord& r : *side) {
      for (records::RankSamples& rank : r.ranks) {
        rank.step_ns.assign(10, 100'000'003);
      }
    }
  }
  const Diff diff = diff_records(sides.base, sides.test, {.threshold = 0.01});
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kUnchanged);
}

// Steps that a clock of 20 ms rounds.
TEST(DiffVerdict, ACoarseClockProvesNoEquality) {
  Sides sides = repeated(8, 1.0);
  for (auto* side : {&sides.base, &sides.test}) {
    for (RunRecord& r : *side) {
      for (records::RankSamples& rank : r.ranks) {
        rank.step_ns.assign(10, 100'000'000);
        rank.step_ns[3] = 120'000'000;
      }
    }
  }
  const Diff coarse = diff_records(sides.base, sides.test, {.threshold = 0.03});
  EXPECT_EQ(coarse.rows[0].verdict, Verdict::kCoarseClock);
  EXPECT_EQ(coarse.decision(), Decision::kUndecided);
  const Diff fine = diff_records(sides.base, sides.test, {.threshold = 0.2});
  EXPECT_EQ(fine.rows[0].verdict, Verdict::kUnchanged);
}

// The pairs of `repeated`, looked at after each.
TEST(DiffUntil, EndsWhenAChangeIsProven) {
  std::size_t pairs = 1;
  Diff diff;
  std::string before;
  Sides sides;
  do {
    before = diff.rows.empty() ? "" : sequential_progress_text(diff);
    sides = repeated(static_cast<int>(++pairs), 1.05);
    diff = diff_records(sides.base, sides.test, {.until = UntilOptions{.within = 0.02}});
  } while (!is_decided(diff) && pairs < 20);
  EXPECT_LE(pairs, 6u);
  EXPECT_NE(before.find("about 1 more pair"), std::string::npos) << before;
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kSlower);
  EXPECT_EQ(diff.decision(), Decision::kChanged);
  EXPECT_LT(*diff.rows[0].corrected_p, 0.05);
  const auto root = nlohmann::json::parse(render_diff("json", diff));
  EXPECT_EQ(root["until"]["within"], 0.02);
  EXPECT_EQ(root["decision"], "changed");
}

TEST(DiffUntil, EndsWhenTheChangeIsProvenSmaller) {
  const DiffOptions options{.until = UntilOptions{.within = 0.02}};
  Sides sides = repeated(4, 1.0);
  Diff diff = diff_records(sides.base, sides.test, options);
  EXPECT_FALSE(is_decided(diff));
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kUndecided);
  EXPECT_EQ(diff.missing, Missing{"no interval within the margin of 2 %: 1M/2G"});
  EXPECT_EQ(verdict_line(diff).find("regression"), std::string::npos);
  const std::size_t to_go = *diff.rows[0].pairs_to_go;
  sides = repeated(static_cast<int>(4 + 3 * to_go), 1.0);
  diff = diff_records(sides.base, sides.test, options);
  EXPECT_TRUE(is_decided(diff));
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kUnchanged);
  EXPECT_EQ(diff.decision(), Decision::kUnchanged);
}

TEST(DiffUntil, TwoPairsHaveNoIntervalYet) {
  const Sides sides = repeated(2, 1.5);
  const Diff diff = diff_records(sides.base, sides.test, {.until = UntilOptions{.within = 0.02}});
  EXPECT_FALSE(diff.rows[0].change->interval);
  EXPECT_EQ(diff.decision(), Decision::kUndecided);
  EXPECT_EQ(sequential_progress_text(diff),
            "after 2 pairs: +49.3 %, too early to say how many more");
}

}  // namespace
}  // namespace paceline::report
