// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/examinee.h"

#include <map>
#include <ranges>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::validate {
namespace {

constexpr auto kReference = PACELINE_SOURCE_DIR "/reference";

using Predictions = std::map<std::string, double>;

template <typename Range>
Predictions predict(const std::vector<Cell>& all, const Range& asked) {
  Examinee examinee(all, kReference);
  Predictions predictions;
  for (const Cell& cell : asked) {
    predictions[cell.id] = examinee.samples_per_s(cell, {});
  }
  return predictions;
}

/// One line for each cell that differs.
void expect_equal(const Predictions& some, const Predictions& all) {
  for (const auto& [id, samples_per_s] : some) {
    EXPECT_EQ(samples_per_s, all.at(id)) << id;
  }
}

// Models keep what they compile: one cell's plan must not stand for another's.
TEST(Examinee, PredictsTheSameInAnyOrder) {
  const std::vector<Cell> cells = read_cells(kReference);
  const Predictions forward = predict(cells, cells);
  EXPECT_EQ(forward.size(), cells.size());
  expect_equal(predict(cells, cells | std::views::reverse), forward);
  for (const Table table : kTables) {
    std::vector<Cell> asked = cells;
    std::erase_if(asked, [&](const Cell& cell) { return cell.table != table; });
    expect_equal(predict(cells, asked), forward);
  }
}

}  // namespace
}  // namespace paceline::validate
