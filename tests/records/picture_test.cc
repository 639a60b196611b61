// SPDX-License-Identifier: Apache-2.0
// The picture of a machine; only in builds with hwloc.
#include <algorithm>

#include <gtest/gtest.h>

#include "paceline/records/environment.h"

namespace paceline::records {
namespace {

TEST(MachinePicture, DrawsPackagesNodesCachesAndCores) {
  EXPECT_EQ(machine_picture("pack:2 numa:1(memory=64GiB) l3:2(size=32MiB) l2:2(size=1MiB) "
                            "l1:1(size=48KiB) core:1 pu:2"),
            "Machine (128 GiB): 2 packages, 2 NUMA nodes, 8 cores, 16 PUs\n"
            "Package 0\n"
            "  NUMA node 0 (64 GiB): PUs 0-7\n"
            "  L3 32 MiB: 2 cores, 2 x L2 1 MiB, 2 x L1d 48 KiB, PUs 0-3\n"
            "  L3 32 MiB: 2 cores, 2 x L2 1 MiB, 2 x L1d 48 KiB, PUs 4-7\n"
            "Package 1\n"
            "  NUMA node 1 (64 GiB): PUs 8-15\n"
            "  L3 32 MiB: 2 cores, 2 x L2 1 MiB, 2 x L1d 48 KiB, PUs 8-11\n"
            "  L3 32 MiB: 2 cores, 2 x L2 1 MiB, 2 x L1d 48 KiB, PUs 12-15\n");
}

TEST(MachinePicture, HasAtMostFortyLines) {
  const std::string picture = machine_picture("pack:32 core:2 pu:1");
  EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n'), 40);
  EXPECT_TRUE(picture.ends_with("more lines\n"));
}

TEST(MachinePicture, KnowsThisMachine) {
  const std::string picture = machine_picture();
  EXPECT_TRUE(picture.starts_with("Machine (")) << picture;
  EXPECT_NE(picture.find("cores"), std::string::npos) << picture;
}

TEST(MachinePicture, OfAnUnreadableDescriptionIsEmpty) {
  EXPECT_EQ(machine_picture("no such machine"), "");
}

}  // namespace
}  // namespace paceline::records
