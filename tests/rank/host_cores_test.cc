// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "launch/memory_store.h"
#include "paceline/base/process.h"
#include "paceline/case/machine.h"
#include "paceline/rank/cores.h"

namespace paceline::rank {
namespace {

using std::chrono::milliseconds;

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

/// What each rank finds, a thread each, bound to its CPU of `cpus` (-1: not).
std::vector<HostCores> find(const std::vector<std::string>& hosts, const std::vector<int>& cpus) {
  const auto store = std::make_shared<testing::MemoryStore>();
  std::vector<HostCores> found(hosts.size());
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    ranks.emplace_back([&, rank] {
      if (cpus[rank] >= 0) {
        bind_to(cpus[rank]);
      }
      engines::World world;
      world.self.rank = static_cast<int>(rank);
      world.self.host = hosts[rank];
      world.hosts = hosts;
      world.store = store;
      launch::PrefixStore own(store, world.self.rank, "");
      found[rank] = host_cores(world, own);
    });
  }
  for (std::thread& rank : ranks) {
    rank.join();
  }
  return found;
}

TEST(HostCores, OfRanksThatTheirLauncherBoundAreThoseOfAllOfThem) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) {
    GTEST_SKIP() << "needs two CPUs to bind two ranks apart";
  }
  for (const HostCores& cores : find({"a", "a"}, {cpus[0], cpus[1]})) {
    EXPECT_EQ(cores.usable, cases::cores_within_quota(2));
    EXPECT_TRUE(cores.apart);
  }
}

TEST(HostCores, OfRanksThatShareACoreAreNotApart) {
  const int cpu = allowed_cpus().front();
  for (const HostCores& cores : find({"a", "a"}, {cpu, cpu})) {
    EXPECT_EQ(cores.usable, 1);
    EXPECT_FALSE(cores.apart);
  }
}

TEST(HostCores, CountNoOtherHost) {
  const int cpu = allowed_cpus().front();
  const std::vector<HostCores> found = find({"a", "b"}, {cpu, -1});
  EXPECT_EQ(found[0].usable, 1);
  EXPECT_EQ(found[1].usable, cases::usable_cores());
}

TEST(CorePin, LeavesRanksThatAreApartWhereTheyAre) {
  std::thread([] {
    bind_to(allowed_cpus().back());
    const std::vector<int> before = allowed_cpus();
    const CorePin pin(1, 2, {.threads = 1}, true);
    EXPECT_EQ(allowed_cpus(), before);
    EXPECT_EQ(pin.description(), "each rank on cores of its own, by its launcher");
  }).join();
}

}  // namespace
}  // namespace paceline::rank
