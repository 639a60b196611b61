// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/judged.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace paceline::validate {
namespace {

constexpr auto kReference = PACELINE_SOURCE_DIR "/reference";

TEST(Judged, HoldsPublishedCellsThatAreNoInputs) {
  std::vector<Cell> cells = read_cells(kReference);
  Examinee examinee(cells, kReference);
  std::erase_if(cells, [](const Cell& cell) {
    return cell.table != Table::kFrameworks || cell.gpus() > 16;
  });
  const std::vector<Judged> all = judge(examinee, cells, {});
  // 42 series, one of which stands in two tables; two are apart.
  EXPECT_EQ(all.size(), 41U);
  EXPECT_EQ(std::ranges::count(all, true, &Judged::apart), 2);
  for (const Judged& one : all) {
    EXPECT_EQ(one.gpus, 16) << one.id;
    EXPECT_GT(one.predicted, 0) << one.id;
  }
}

TEST(Judged, ComparesBucketsAsPublished) {
  const std::vector<Cell> cells = read_cells(kReference);
  Examinee examinee(cells, kReference);
  const auto all = bucket_differences(examinee, cells, {}, kReference);
  ASSERT_EQ(all.size(), 36U);
  for (const BucketDifference& one : all) {
    EXPECT_LT(one.published, 0) << one.id;
    // No row says that more collectives are faster.
    EXPECT_LE(one.predicted, 0.05) << one.id;
  }
  // A comparison of one device has nothing to send.
  EXPECT_LT(std::abs(all.front().predicted), 0.1);
}

}  // namespace
}  // namespace paceline::validate
