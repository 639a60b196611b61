// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/members.h"

#include <vector>

#include <gtest/gtest.h>

#include "paceline/plan/ranks_per_host.h"

namespace paceline::plan {
namespace {

TEST(Members, LieAtEqualDistances) {
  const Members lane = Members::spaced(3, 4, 8);
  EXPECT_EQ(std::vector<Rank>(lane.begin(), lane.end()), (std::vector<Rank>{3, 11, 19, 27}));
  EXPECT_EQ(lane.size(), 4U);
  EXPECT_EQ(lane.front(), 3);
  EXPECT_EQ(lane.back(), 27);
  EXPECT_EQ(lane[2], 19);
  EXPECT_EQ(lane.index_of_rank(19), std::size_t{2});
  for (const Rank other : {-5, 0, 4, 18, 35}) {
    EXPECT_FALSE(lane.contains(other)) << other;
  }
}

TEST(Members, MayBeListed) {
  EXPECT_EQ((Members{0, 2, 4}), Members::spaced(0, 3, 2));
  EXPECT_EQ(Members{7}, Members::spaced(7, 1));
  EXPECT_TRUE(Members().empty());
  EXPECT_FALSE(Members().contains(0));
}

TEST(RanksPerHost, KeepEqualNeighborsAsOne) {
  RanksPerHost hosts;
  EXPECT_TRUE(hosts.empty());
  hosts.add(250'000, 4);
  hosts.add(1, 2);
  EXPECT_EQ(hosts.runs().size(), 2U);
  EXPECT_EQ(hosts.hosts(), 250'001);
  EXPECT_EQ(hosts.ranks(), 1'000'002);
  EXPECT_EQ(hosts.most(), 4);
  EXPECT_TRUE(hosts.has_equal_hosts_up_to(1'000'000));
  EXPECT_FALSE(hosts.has_equal_hosts_up_to(1'000'001));
  EXPECT_EQ(text_of(hosts), "4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, ...");
}

TEST(RanksPerHost, AreTheirSizes) {
  const std::vector<Rank> sizes{4, 4, 2, 4};
  EXPECT_EQ(RanksPerHost(sizes).sizes(), sizes);
  EXPECT_EQ(RanksPerHost(sizes), (RanksPerHost{4, 4, 2, 4}));
  EXPECT_EQ(RanksPerHost(sizes).runs().size(), 3U);
  EXPECT_EQ(text_of(sizes), "4, 4, 2, 4");
}

}  // namespace
}  // namespace paceline::plan
