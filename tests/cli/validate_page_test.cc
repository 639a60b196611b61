// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/validate_page.h"

#include <string>

#include <gtest/gtest.h>

#include "paceline/validate/switches.h"

namespace paceline::cli {
namespace {

using validate::Examination;
using validate::Judged;
using validate::Table;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++n;
  }
  return n;
}

Judged cell(const std::string& id, Table table, double error) {
  return {.id = id,
          .table = table,
          .family = "ring",
          .gpus = 16,
          .multi_node = true,
          .predicted = 100 + error,
          .published = 100};
}

Examination examination() {
  const Judged ddp = cell("first cell", Table::kDdp, 3);
  const Judged buckets = cell("second cell", Table::kDdpBuckets, -5);
  return {.text = "",
          .tables = {
              {.table = Table::kDdp, .cells = {ddp, buckets}, .unseen = {}}}};
}

TEST(ValidatePage, SaysHowMuchCellsHaveDecidedBesideTheErrors) {
  const std::string page = validate_page(examination());
  const validate::Freedom freedom = validate::freedom_of(Table::kDdp);
  EXPECT_EQ(count(page, "Of this table: " + in_words(freedom) + "."), 1U);
  EXPECT_EQ(count(page, "Fitted and counted with PyTorch DDP"), 1U);
  // Cells, mean and p90 of 3 and 5; then what cells have decided.
  EXPECT_EQ(count(page,
                  "<th scope=\"row\">ddp</th><td>2</td><td>4.0</td><td>4.8"
                  "</td><td>4.0</td><td>4.8</td><td>" +
                      std::to_string(freedom.constants) + "</td><td>" +
                      std::to_string(freedom.chosen) + " of " +
                      std::to_string(freedom.numbers) + "</td><td>" +
                      std::to_string(freedom.switches) + "</td>"),
            1U);
  EXPECT_EQ(count(page, "left out, %"), 0U);
}

TEST(ValidatePage, ScoresWithoutScatteredRowsToo) {
  Examination it = examination();
  const std::string line = "multi-node, scattered rows left out</th><td>1<";
  EXPECT_EQ(count(validate_page(it), line), 0U);
  it.tables[0].cells.push_back(cell("third", Table::kDdp, 9));
  it.tables[0].cells.back().scattered = true;
  EXPECT_EQ(count(validate_page(it), line), 1U);
}

TEST(ValidatePage, ShowsWhatFitsHaveNotSeen) {
  Examination it = examination();
  it.tables[0].unseen = {
      {.left_out = "a series", .cells = {cell("third", Table::kDdp, 12)}},
      {.left_out = "a model", .cells = {cell("fourth", Table::kDdp, 20)}}};
  const std::string page = validate_page(it);
  EXPECT_EQ(count(page, "<h3>ddp, left out: a series</h3>"), 1U);
  EXPECT_EQ(count(page, "<h3>ddp, left out: a model</h3>"), 1U);
  EXPECT_EQ(count(page, "a series left out, %"), 1U);
  EXPECT_GE(count(page, "+12.0"), 1U);
  EXPECT_GE(count(page, "+20.0"), 1U);
}

// As a pointer over the point says it, and as a table.
TEST(ValidatePage, NamesTheCellOfEveryPoint) {
  const std::string page = validate_page(examination());
  for (const char* id : {"first cell", "second cell"}) {
    EXPECT_EQ(count(page, std::string("<td>") + id + "</td><td>16</td>"), 1U);
    EXPECT_EQ(count(page, std::string("{\"name\":\"") + id + "\""), 2U);
  }
}

}  // namespace
}  // namespace paceline::cli
