// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/narrowing.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/fixed_records.h"

namespace paceline::front {
namespace {

using records::RunRecord;

/// Runs of two cases, of which the second scatters by more.
std::vector<RunRecord> runs_of_two(int runs) {
  std::vector<RunRecord> records;
  for (int run = 0; run < runs; ++run) {
    records.push_back(report::fixed_record({"calm", "ddp", 2, 100 + 0.1 * (run % 3)}, run));
    records.push_back(report::fixed_record({"wild", "ddp", 4, 100 + 2.0 * (run % 3)}, run));
  }
  return records;
}

TEST(NarrowingOptions, TheWidestCaseIsNext) {
  const NarrowingOptions wanted{.within = 0.02};
  std::vector<RunRecord> records = runs_of_two(4);
  auto widths = widths_of(records);
  ASSERT_EQ(widths.size(), 2u);
  EXPECT_LT(widths[0].half_width, widths[1].half_width);
  const CaseWidth* next = widest(widths, wanted);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->name, "wild");
  EXPECT_EQ(next->next_run, 4);
  EXPECT_EQ(next->key, records[1].configuration.key());
  EXPECT_NE(interval_width_text(widths, wanted).find("1 of 2 cases not within 2 %"),
            std::string::npos)
      << interval_width_text(widths, wanted);
  // More of its runs make it narrow in the end.
  while (next != nullptr && next->runs < 100) {
    const int run = next->next_run;
    records.push_back(report::fixed_record({"wild", "ddp", 4, 100 + 2.0 * (run % 3)}, run));
    widths = widths_of(records);
    next = widest(widths, {.within = 0.02, .most_runs = 100});
  }
  EXPECT_EQ(next, nullptr);
  EXPECT_LE(widths[1].half_width, 0.02);
  EXPECT_EQ(widths[0].runs, 4u);
  EXPECT_TRUE(interval_width_text(widths, wanted).starts_with("every case is within 2 %"));
}

TEST(NarrowingOptions, FewRunsHaveNoInterval) {
  const std::vector<RunRecord> records = runs_of_two(2);
  const auto widths = widths_of(records);
  EXPECT_TRUE(std::isinf(widths[0].half_width));
  EXPECT_NE(interval_width_text(widths, {.within = 0.02}).find("no interval"), std::string::npos);
}

TEST(NarrowingOptions, TheBudgetAndAFailureEndACase) {
  std::vector<RunRecord> records = runs_of_two(4);
  EXPECT_EQ(widest(widths_of(records), {.within = 0.02, .most_runs = 4}), nullptr);
  records.push_back(report::fixed_record({"wild", "ddp", 4, 100}, 4));
  records.back().ranks.clear();
  records.back().error = "rank 1 on a: killed by signal 9";
  const auto widths = widths_of(records);
  EXPECT_TRUE(widths[1].failed);
  EXPECT_EQ(widest(widths, {.within = 0.02}), nullptr);
  EXPECT_TRUE(interval_width_text(widths, {.within = 0.02})
                  .starts_with("every other case is within 2 %, 1 failed; "))
      << interval_width_text(widths, {.within = 0.02});
}

}  // namespace
}  // namespace paceline::front
