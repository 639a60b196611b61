// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/left_out.h"

#include <gtest/gtest.h>

namespace paceline::validate {
namespace {

std::string group_of(Table table,
                     const std::string& what,
                     std::vector<std::string> key) {
  for (const Leaving& leaving : leavings_of(table)) {
    if (leaving.what == what) {
      return leaving.group({.table = table, .id = "", .key = std::move(key)});
    }
  }
  ADD_FAILURE() << "no cross-validation leaves out " << what;
  return "";
}

// What is one simulation, or one experiment, must not tell of itself.
TEST(LeftOut, KeepsOneSimulationTogether) {
  const auto series = [](std::vector<std::string> key) {
    return group_of(Table::kSurvey, "a series", std::move(key));
  };
  EXPECT_EQ(series({"ByteScheduler-PS", "BERT-Base", "10GbE", "8"}),
            series({"WFBP-PS", "BERT-Base", "10GbE", "16"}));
  EXPECT_EQ(series({"BSP-A2A", "BERT-Base", "10GbE", "4"}),
            series({"BSP-A2A", "BERT-Base", "100GbIB", "4"}));
  EXPECT_NE(series({"BSP-A2A", "BERT-Base", "10GbE", "8"}),
            series({"BSP-A2A", "BERT-Base", "100GbIB", "8"}));
}

TEST(LeftOut, KeepsWhatHasNoGroup) {
  const std::string what = "a model's rows of more than one machine";
  EXPECT_EQ(group_of(Table::kDdp, what, {"resnet50", "1M/8G", "p50"}), "");
  EXPECT_EQ(group_of(Table::kDdp, what, {"resnet50", "2M/8G", "p50"}),
            "resnet50");
  EXPECT_EQ(group_of(Table::kSurvey, "32 devices", {"m", "n", "w", "16"}), "");
}

}  // namespace
}  // namespace paceline::validate
