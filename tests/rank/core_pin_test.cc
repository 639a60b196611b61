// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "paceline/rank/cores.h"

namespace paceline::rank {
namespace {

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  return set;
}

TEST(CorePin, GivesEachRankCoresOfItsOwnAndGivesThemBack) {
  const cpu_set_t before = affinity();
  const int cores = CPU_COUNT(&before);
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (int rank = 0; rank < cores; ++rank) {
    const CorePin pin(rank, cores, 1);
    const cpu_set_t own = affinity();
    EXPECT_EQ(CPU_COUNT(&own), 1) << "rank " << rank;
    cpu_set_t shared;
    CPU_AND(&shared, &own, &taken);
    EXPECT_EQ(CPU_COUNT(&shared), 0) << "rank " << rank;
    CPU_OR(&taken, &taken, &own);
  }
  const cpu_set_t after = affinity();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_TRUE(CPU_EQUAL(&before, &taken));
}

TEST(CorePin, LeavesCrowdedHostsAlone) {
  const cpu_set_t before = affinity();
  const CorePin pin(0, CPU_COUNT(&before) + 1, 1);
  const cpu_set_t now = affinity();
  EXPECT_TRUE(CPU_EQUAL(&before, &now));
  EXPECT_EQ(pin.description().rfind("not pinned", 0), 0U);
}

}  // namespace
}  // namespace paceline::rank
