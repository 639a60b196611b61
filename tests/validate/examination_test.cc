// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/examination.h"

#include <cmath>
#include <regex>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/validate/inputs.h"

namespace paceline::validate {
namespace {

constexpr auto kReference = PACELINE_SOURCE_DIR "/reference";

std::set<std::string> ids_of(const std::vector<const Cell*>& cells) {
  std::set<std::string> ids;
  for (const Cell* cell : cells) {
    ids.insert(cell->id);
  }
  return ids;
}

/// How many cells a line of scores counts; 0 where there is no such line.
std::size_t cells_of(const std::string& text, const std::string& line) {
  std::smatch found;
  const std::regex pattern("\n  " + line + " +([0-9]+) ");
  return std::regex_search(text, found, pattern) ? std::stoul(found[1]) : 0;
}

TEST(Examination, SetsFewRowsApart) {
  const std::vector<Cell> cells = read_cells(kReference);
  EXPECT_EQ(set_apart(cells, Table::kSurvey).size(), 12U);
  EXPECT_EQ(ids_of(set_apart(cells, Table::kFrameworks)),
            (std::set<std::string>{"rn50_amp_b256|TensorFlow 2.x|16",
                                   "rn50_amp_b256|TensorFlow 2.x|32",
                                   "rn50_amp_b256|PaddlePaddle w/DALI|16",
                                   "rn50_amp_b256|PaddlePaddle w/DALI|32"}));
  EXPECT_TRUE(set_apart(cells, Table::kDdp).empty());
  EXPECT_EQ(ids_of(set_apart(cells, Table::kDecentralized)),
            std::set<std::string>{"text|neighbor_allreduce|16"});
}

TEST(Examination, PrintsBothTotalsWhereRowsAreSetApart) {
  const auto text_of = [](Table table) {
    return examine({.reference = kReference, .table = table}).text;
  };
  const std::vector<Cell> cells = read_cells(kReference);
  const std::string frameworks = text_of(Table::kFrameworks);
  const std::size_t scored = scorable(cells, Table::kFrameworks).size();
  EXPECT_EQ(cells_of(frameworks, "all"), scored);
  EXPECT_EQ(cells_of(frameworks, "all, with what is set apart"),
            scored + set_apart(cells, Table::kFrameworks).size());
  const std::string ddp = text_of(Table::kDdp);
  EXPECT_GT(cells_of(ddp, "all"), 0U);
  EXPECT_EQ(cells_of(ddp, "all, with what is set apart"), 0U);
}

// Who shows the results elsewhere has the very cells that the text counts.
TEST(Examination, GivesTheCellsThatItsTextCounts) {
  const Examination found =
      examine({.reference = kReference, .table = Table::kFrameworks});
  ASSERT_EQ(found.tables.size(), 1U);
  EXPECT_TRUE(found.tables[0].unseen.empty());
  EXPECT_EQ(found.tables[0].cells.size(),
            cells_of(found.text, "all, with what is set apart"));
  const Examination ddp =
      examine({.reference = kReference, .table = Table::kDdp});
  ASSERT_EQ(ddp.tables.size(), 1U);
  EXPECT_EQ(ddp.tables[0].cells.size(), cells_of(ddp.text, "all"));
  std::set<Table> tables;
  double sum = 0;
  for (const Judged& cell : ddp.tables[0].cells) {
    tables.insert(cell.table);
    sum += std::abs(cell.error());
  }
  EXPECT_EQ(tables, (std::set<Table>{Table::kDdp, Table::kDdpBuckets}));
  const double mean = sum / static_cast<double>(ddp.tables[0].cells.size());
  EXPECT_NE(
      ddp.text.find(fmt::format(
          "  {:<34}{:>5}{:>8.2f}", "all", ddp.tables[0].cells.size(), mean)),
      std::string::npos);
}

}  // namespace
}  // namespace paceline::validate
