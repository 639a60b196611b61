// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/comm_findings.h"

#include <gtest/gtest.h>

#include "launch/memory_store.h"

namespace paceline::measure {
namespace {

records::CommRecord row(std::int64_t bytes) {
  return {.started_at = "2026-01-31T17:45:00Z",
          .operation = "all-reduce",
          .bytes = bytes,
          .ranks = 4,
          .ranks_per_host = {2, 2},
          .op = "sum",
          .root = {},
          .engine = "gloo",
          .device = "cpu",
          .dtype = "bf16",
          .interface = "lo",
          .link = "1Gbit,50us",
          .warmup = 3,
          .iteration_ns = {1000, 3000, 2000},
          .wire_bytes = 3 * bytes / 2,
          .wrong_elements = 5,
          .link_slack_ns = -7,
          .valid = false,
          .warnings = {}};
}

// Whoever reads the store sees what rank 0 itself would say.
TEST(CommFindings, OutliveTheRankInTheStore) {
  const auto store = std::make_shared<paceline::testing::MemoryStore>();
  CommFindings findings(store);
  records::Environment environment;
  environment.compiler = "gcc 12";
  environment.hosts = {
      {.host = "a", .facts = {{"cores", "2"}}, .topology = {}}};
  findings.begin(environment, {"a", "a", "b", "b"});
  findings.add_line(1e9);
  findings.add(row(64));
  findings.add(row(1 << 30));
  findings.add_line(2e9);
  findings.add_line(1.5e9);
  const CommResult mine = findings.result();
  const CommResult read = read_findings(*store);
  EXPECT_EQ(read.hosts, (std::vector<std::string>{"a", "a", "b", "b"}));
  EXPECT_EQ(read.environment, environment);
  ASSERT_EQ(read.records.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(records::to_json(read.records[i], environment),
              records::to_json(mine.records[i], environment));
    EXPECT_EQ(read.records[i].line_bytes_per_s, 2e9);
    EXPECT_EQ(read.records[i].link_slack_ns, -7);
    EXPECT_EQ(read.records[i].valid, false);
  }
  // 1.6 GB in 2 us are above any line, 96 B in 2 us are not.
  EXPECT_TRUE(read.records[0].warnings.empty());
  ASSERT_EQ(read.records[1].warnings.size(), 1U);
  EXPECT_EQ(read.records[1].warnings[0].code, "above-line");
}

TEST(CommFindings, AStoreWithoutAnyIsAnEmptyResult) {
  paceline::testing::MemoryStore store;
  const CommResult nothing = read_findings(store);
  EXPECT_TRUE(nothing.records.empty());
  EXPECT_TRUE(nothing.hosts.empty());
}

}  // namespace
}  // namespace paceline::measure
