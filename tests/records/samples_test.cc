// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/samples.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::records {
namespace {

using Seconds = std::vector<double>;

RunRecord with_steps(std::vector<std::vector<std::int64_t>> steps) {
  RunRecord record;
  for (std::vector<std::int64_t>& of_rank : steps) {
    record.ranks.emplace_back().step_ns = std::move(of_rank);
  }
  return record;
}

TEST(Samples, TakeTheSlowestRankOfTheStepsThatAllHave) {
  EXPECT_EQ(slowest_step_s(with_steps(
                {{1'000'000'000, 4'000'000'000}, {}, {2'000'000'000, 3'000'000'000, 5}})),
            (Seconds{2, 4}));
  EXPECT_EQ(slowest_step_s(with_steps({{}, {}})), Seconds{});
  EXPECT_EQ(slowest_step_s({}), Seconds{});
}

TEST(Samples, KnowComputeOnlyWhereItWasMeasured) {
  RunRecord record = with_steps({{7}, {8}});
  EXPECT_EQ(slowest_compute_only_step_s(record), Seconds{});
  record.ranks[0].compute_only_step_ns = {2'000'000'000};
  record.ranks[1].compute_only_step_ns = {3'000'000'000};
  EXPECT_EQ(slowest_compute_only_step_s(record), Seconds{3});
}

TEST(Samples, ComparePairByPairTheSlowestRanks) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  RunRecord record = with_steps({{7}, {}, {8}});
  EXPECT_EQ(exposed_s_by_pair(record), Seconds{});
  record.ranks[0].pair_of_step = {0, 0, 0, 1};
  record.ranks[2].pair_of_step = {0, 0, 0, 1};
  record.ranks[0].paired_step_ns = {5 * kSecond, 1 * kSecond, 9 * kSecond, 4 * kSecond};
  record.ranks[2].paired_step_ns = {1 * kSecond, 6 * kSecond, 9 * kSecond, 3 * kSecond};
  record.ranks[0].compute_only_step_ns = {2 * kSecond, 1 * kSecond, 1 * kSecond, 2 * kSecond};
  record.ranks[2].compute_only_step_ns = {1 * kSecond, 3 * kSecond, 4 * kSecond, 6 * kSecond};
  // Medians of 5, 6, 9 and of 2, 3, 4; then 4 and 6.
  EXPECT_EQ(exposed_s_by_pair(record), (Seconds{3, -2}));
}

TEST(Samples, SayHowLongTheSlowestReaderWaited) {
  RunRecord record = with_steps({{7, 7}, {8, 8}, {9, 9}});
  EXPECT_EQ(longest_data_wait_s(record), std::nullopt);
  record.ranks[0].phase_ns["data"] = {1'000'000'000, 2'000'000'000};
  record.ranks[2].phase_ns["data"] = {500'000'000, 4'500'000'000};
  record.ranks[1].phase_ns["forward"] = {9'000'000'000, 9'000'000'000};
  EXPECT_EQ(longest_data_wait_s(record), 2.5);
}

}  // namespace
}  // namespace paceline::records
