// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/host_cores.h"

#include <cstddef>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/experiment/machine.h"

namespace paceline::measure {

HostCores host_cores(const engines::World& world, launch::PrefixStore& store) {
  store.set(fmt::format("cpus/{}", world.self.rank),
            fmt::format("{}", fmt::join(experiment::allowed_cpus(), " ")));
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
  return {.usable =
              experiment::cores_within_quota(static_cast<int>(together.size())),
          .apart = ranks > 1 && one_by_one == together.size()};
}

}  // namespace paceline::measure
