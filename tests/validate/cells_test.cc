// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/validate/cell.h"
#include "paceline/validate/csv.h"

namespace paceline::validate {
namespace {

constexpr auto kReference = PACELINE_SOURCE_DIR "/reference";

TEST(Csv, ReadsQuotedFields) {
  const Csv csv = Csv::parse("a,b\n1,\"x, \"\"y\"\"\"\n,z\n", "test");
  ASSERT_EQ(csv.rows(), 2U);
  EXPECT_EQ(csv.text(0, "b"), "x, \"y\"");
  EXPECT_EQ(csv.number(0, "a"), 1.0);
  EXPECT_EQ(csv.number(1, "a"), std::nullopt);
}

TEST(Csv, RefusesWhatIsNoTable) {
  EXPECT_THROW(Csv::parse("a,b\n1\n", "test"), UsageError);
  const Csv csv = Csv::parse("a\nx\n", "test");
  EXPECT_THROW(csv.number(0, "a"), UsageError);
  EXPECT_THROW(csv.text(0, "c"), UsageError);
}

// The tables' own flag is what validate calls scattered.
TEST(Cells, AreFlaggedWhereTheirRunsScatter) {
  const Csv csv =
      Csv::read(std::filesystem::path(kReference) / "ddl_benchmarks.csv");
  int scattered = 0;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const bool wide =
        csv.number(row, "plus_minus_samples_per_s").value() >
        0.05 * csv.number(row, "throughput_samples_per_s").value();
    scattered += wide ? 1 : 0;
    EXPECT_EQ(csv.text(row, "flags").find("spread_above_5_percent") !=
                  std::string::npos,
              wide)
        << csv.text(row, "row_id");
  }
  EXPECT_EQ(scattered, 15);
}

TEST(Cells, AreThoseThatCanBePredicted) {
  std::map<Table, int> all, published;
  std::set<std::string> ids;
  for (const Cell& cell : read_cells(kReference)) {
    ++all[cell.table];
    published[cell.table] += cell.published.has_value() ? 1 : 0;
    EXPECT_TRUE(ids.insert(cell.id).second) << cell.id;
  }
  EXPECT_EQ(all,
            (std::map<Table, int>{{Table::kSurvey, 252},
                                  {Table::kFrameworks, 168},
                                  {Table::kDdp, 96},
                                  {Table::kDdpBuckets, 40},
                                  {Table::kDecentralized, 37}}));
  EXPECT_EQ(published,
            (std::map<Table, int>{{Table::kSurvey, 179},
                                  {Table::kFrameworks, 147},
                                  {Table::kDdp, 88},
                                  {Table::kDdpBuckets, 36},
                                  {Table::kDecentralized, 34}}));
}

TEST(Cells, StandInTablesOfThatName) {
  for (const Table table : kTables) {
    if (table != Table::kDdpBuckets) {
      EXPECT_EQ(table_named(name_of(table)), table);
    }
  }
  // It is examined with the table that it is compared with.
  EXPECT_THROW(table_named("ddp-buckets"), UsageError);
}

TEST(Cells, KnowTheirDevices) {
  EXPECT_EQ((Cell{.table = Table::kDdp, .id = "", .key = {"m", "2M/8G", "p50"}})
                .gpus(),
            16);
  EXPECT_EQ(
      (Cell{.table = Table::kDdp, .id = "", .key = {"m", "no ddp", "p50"}})
          .gpus(),
      1);
  EXPECT_EQ(
      (Cell{.table = Table::kSurvey, .id = "", .key = {"a", "b", "32"}}).gpus(),
      32);
}

}  // namespace
}  // namespace paceline::validate
