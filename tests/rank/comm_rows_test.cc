// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "paceline/plan/wire_bytes.h"
#include "paceline/rank/comm_case.h"
#include "paceline/records/comm_record.h"

namespace paceline::rank {
namespace {

TEST(CommRows, SizesThatRoundToTheSameAreOneRow) {
  const std::vector<std::int64_t> sizes{4, 5, 6, 7, 8, 9, 12};
  EXPECT_EQ(comm_rows({"all-reduce", "all-reduce"}, sizes, "fp32", 2),
            (std::vector<CommRow>{{"all-reduce", 4}, {"all-reduce", 8}, {"all-reduce", 12}}));
  // Equal shards for two ranks.
  EXPECT_EQ(
      comm_rows({"all-gather", "message"}, sizes, "fp32", 2),
      (std::vector<CommRow>{
          {"all-gather", 8}, {"all-gather", 16}, {"message", 4}, {"message", 8}, {"message", 12}}));
  EXPECT_EQ(comm_rows({"broadcast"}, {1, 3, 4}, "bf16", 4),
            (std::vector<CommRow>{{"broadcast", 2}, {"broadcast", 4}}));
}

// Records name operations as plans do.
TEST(CommRows, BusBandwidthsCountTheBytesOfTheirOperation) {
  for (const plan::Pattern pattern : plan::kPatterns) {
    const auto bytes = static_cast<double>(plan::wire_bytes(pattern, 4096, 4));
    EXPECT_EQ(records::bus_factor(plan::name_of(pattern), 4), bytes / 4096);
  }
  EXPECT_EQ(records::bus_factor(plan::kMessageOperation, 4), 1);
}

}  // namespace
}  // namespace paceline::rank
