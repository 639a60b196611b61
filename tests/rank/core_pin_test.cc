// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

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
    const CorePin pin(rank, cores, {.threads = 1});
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
  const CorePin pin(0, CPU_COUNT(&before) + 1, {.threads = 1});
  const cpu_set_t now = affinity();
  EXPECT_TRUE(CPU_EQUAL(&before, &now));
  EXPECT_EQ(pin.description(), "not pinned: no core for every thread of every rank");
}

TEST(CorePin, SaysWhyTheCasesForbidIt) {
  cases::Case own;
  own.device = "cpu";
  own.threads = 1;
  const CoreDemand demand = core_demand_of(std::vector{own});
  EXPECT_EQ(demand.threads, 1);
  EXPECT_EQ(demand.unpinned, "");
  cases::Case gpu = own;
  gpu.device = "cuda";
  cases::Case command = own;
  command.command = "true";
  command.launcher = "command";
  for (const auto& [other, why] :
       {std::pair{gpu, "not pinned: the host threads of GPUs need room"},
        {command, "not pinned: external programs place their own threads"}}) {
    const cpu_set_t before = affinity();
    const CorePin pin(0, 1, core_demand_of(std::vector{own, other}));
    const cpu_set_t now = affinity();
    EXPECT_TRUE(CPU_EQUAL(&before, &now));
    EXPECT_EQ(pin.description(), why);
  }
}

}  // namespace
}  // namespace paceline::rank
