// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/cores.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/process.h"
#include "paceline/case/machine.h"
#include "paceline/case/outside.h"

namespace paceline::rank {

HostCores host_cores(const engines::World& world, launch::PrefixStore& store) {
  store.set(fmt::format("cpus/{}", world.self.rank),
            fmt::format("{}", fmt::join(allowed_cpus(), " ")));
  std::set<int> together;
  std::size_t one_by_one = 0;
  int ranks = 0;
  for (std::size_t rank = 0; rank < world.hosts.size(); ++rank) {
    if (world.hosts[rank] != world.self.host) {
      continue;
    }
    ++ranks;
    std::istringstream cpus(store.wait(fmt::format("cpus/{}", rank)));
    for (int cpu = 0; cpus >> cpu; ++one_by_one) {
      together.insert(cpu);
    }
  }
  return {.usable = cases::cores_within_quota(static_cast<int>(together.size())),
          .apart = ranks > 1 && one_by_one == together.size()};
}

CoreDemand core_demand_of(std::span<const cases::Case> cases) {
  CoreDemand demand;
  for (const cases::Case& c : cases) {
    demand.threads = std::max(demand.threads, c.threads);
    if (cases::starts_its_ranks(c)) {
      demand.unpinned = "external programs place their own threads";
    } else if (c.device != "cpu") {
      demand.unpinned = "the host threads of GPUs need room";
    }
  }
  return demand;
}

CorePin::CorePin(int local_rank, int local_world, const CoreDemand& demand, bool apart) {
  const int each = demand.threads;
  if (sched_getaffinity(0, sizeof(before_), &before_) != 0) {
    description_ = "not pinned: the affinity cannot be read";
    return;
  }
  const int cores = CPU_COUNT(&before_);
  if (apart) {
    description_ = "each rank on cores of its own, by its launcher";
    return;
  }
  if (!demand.unpinned.empty()) {
    description_ = "not pinned: " + demand.unpinned;
    return;
  }
  if (each > cores / std::max(1, local_world)) {
    description_ = "not pinned: no core for every thread of every rank";
    return;
  }
  cpu_set_t own;
  CPU_ZERO(&own);
  int place = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &before_)) {
      if (place / each == local_rank) {
        CPU_SET(core, &own);
      }
      ++place;
    }
  }
  pinned_ = sched_setaffinity(0, sizeof(own), &own) == 0;
  description_ = pinned_
                     ? fmt::format("each rank on {} core{} of its own", each, each == 1 ? "" : "s")
                     : "not pinned: the system rejected";
}

CorePin::~CorePin() {
  if (pinned_) {
    sched_setaffinity(0, sizeof(before_), &before_);
  }
}

}  // namespace paceline::rank
