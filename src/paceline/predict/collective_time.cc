// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/collective_time.h"

#include <algorithm>
#include <cmath>

#include "paceline/predict/engines.h"

namespace paceline::predict {

double collective_s(const cluster::CollectiveCall& call, const cluster::Machine& machine,
                    const cluster::SoftwareCosts& software) {
  const bool included = cluster::measured_fit(call, machine) != nullptr ||
                        cluster::launch_is_calibrated(call.group.hosts > 1, machine);
  const plan::Picoseconds start = included ? 0
                                           : software.issue + software.collective +
                                                 call.group.ranks * software.collective_per_rank;
  return plan::seconds_of(
      start + cluster::alone(cluster::collective_cost(call, machine), call.group, machine));
}

double least_possible_s(const cluster::CollectiveCall& call, const cluster::Cluster& cluster) {
  cluster::Machine machine = cluster::machine_of(cluster, "");
  machine.link_rates_only = true;
  double least = INFINITY;
  for (const EngineCosts& engine : shipped_costs().engines) {
    machine.algorithm = engine.algorithm;
    least = std::min(least, collective_s(call, machine, {}));
  }
  return least;
}

}  // namespace paceline::predict
