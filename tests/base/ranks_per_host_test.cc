// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/ranks_per_host.h"

#include <string>

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(RanksOfHosts, AreCountedWhereTheyFollowEachOther) {
  const std::vector<std::string> hosts{"a", "a", "b", "a"};
  EXPECT_EQ(ranks_per_host<std::string>(hosts), (std::vector<int>{2, 1, 1}));
  EXPECT_EQ(ranks_per_host<int>({}), std::vector<int>{});
}

}  // namespace
}  // namespace paceline
