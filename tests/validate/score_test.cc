// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/score.h"

#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/validate/examination_text.h"

namespace paceline::validate {
namespace {

TEST(Score, IsOfAbsoluteErrors) {
  std::vector<Cell> cells(3);
  for (Cell& cell : cells) {
    cell.table = Table::kSurvey;
    cell.key = {"BSP-A2A", "ResNet-50", "10GbE", "8"};
  }
  cells[2].key[3] = "4";
  const Errors errors{{&cells[0], -4}, {&cells[1], 2}, {&cells[2], 0}};
  EXPECT_DOUBLE_EQ(score(errors).mean, 2);
  EXPECT_DOUBLE_EQ(score(errors).median, 2);
  EXPECT_DOUBLE_EQ(score(errors).worst, -4);
  EXPECT_DOUBLE_EQ(score(errors, multi_node).mean, 3);
}

// Beside the whole, where there is something to leave out.
TEST(Score, IsPrintedWithoutScatteredRowsToo) {
  std::vector<Cell> cells(3);
  for (Cell& cell : cells) {
    cell.table = Table::kSurvey;
    cell.key = {"BSP-A2A", "ResNet-50", "10GbE", "8"};
  }
  const Errors errors{{&cells[0], -4}, {&cells[1], 2}, {&cells[2], 3}};
  const auto text_of = [&] {
    std::string text;
    write_scores(errors, series_of, std::back_inserter(text));
    return text;
  };
  const std::string line = "multi-node, scattered rows left out";
  EXPECT_EQ(text_of().find(line), std::string::npos);
  cells[0].flags = "superlinear_vs_half_the_gpus;spread_above_5_percent";
  EXPECT_NE(text_of().find(line + "    2    2.50"), std::string::npos)
      << text_of();
}

/// `rows` misses of each size, every size a group.
std::vector<Miss> rows_of(const std::vector<double>& sizes, int rows) {
  std::vector<Miss> all;
  for (const double size : sizes) {
    for (int i = 0; i < rows; ++i) {
      all.push_back({.error = size, .group = std::to_string(size)});
    }
  }
  return all;
}

// A group that is drawn brings all its rows: more of them tell no more.
TEST(Score, IsAsSureAsItHasGroups) {
  const std::vector<double> sizes{1, -2, 3, 4, -5, 6, 7, -8};
  const Score few = score(rows_of(sizes, 1));
  const Score many = score(rows_of(sizes, 100));
  ASSERT_TRUE(few.interval && many.interval);
  EXPECT_NEAR(few.interval->low, many.interval->low, 1e-9);
  EXPECT_NEAR(few.interval->high, many.interval->high, 1e-9);
  EXPECT_LT(many.interval->low, 3.5);
  EXPECT_GT(many.interval->high, 5.5);
  EXPECT_EQ(interval_words(stats::Interval{1.04, 2.96}), "1.0-3.0");
}

TEST(Score, IsSureOfWhatIsTheSameEverywhere) {
  std::vector<Miss> rows = rows_of({2}, 8);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].group = std::to_string(i);
  }
  EXPECT_EQ(score(rows).interval, (stats::Interval{2, 2}));
}

TEST(Score, SaysNothingOfFewGroups) {
  EXPECT_FALSE(score(rows_of({1, 2, 3, 4, 5, 6, 7}, 9)).interval);
  EXPECT_EQ(interval_words(std::nullopt), "");
  EXPECT_EQ(score(std::vector<Miss>{}).cells, 0U);
}

}  // namespace
}  // namespace paceline::validate
