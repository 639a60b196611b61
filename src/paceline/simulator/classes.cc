// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/classes.h"

#include <algorithm>
#include <numeric>

#include "paceline/base/error.h"

namespace paceline::simulator {

plan::Rank Classes::count() const {
  plan::Rank count = 0;
  for (plan::Rank rank = 0; rank < world(); ++rank) {
    count += representative[static_cast<std::size_t>(rank)] == rank ? 1 : 0;
  }
  return count;
}

/// Hosts that share one rank class have the same classes of ranks, so the smallest representative
/// on a host identifies the class of the host.
void Classes::follow_orbits() {
  std::vector<plan::Rank> smallest(host_size.size(), world());
  for (plan::Rank rank = 0; rank < world(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    representative[r] = orbits.first[r];
    plan::Rank& least = smallest[static_cast<std::size_t>(host_of[r])];
    least = std::min(least, representative[r]);
  }
  std::vector<std::int32_t> known(representative.size(), -1);
  host_classes = 0;
  for (std::size_t host = 0; host < host_size.size(); ++host) {
    std::int32_t& number = known[static_cast<std::size_t>(smallest[host])];
    if (number < 0) {
      number = host_classes++;
    }
    host_class[host] = number;
  }
}

Classes unfolded_classes(const plan::PlanInput& input) {
  const plan::RanksPerHost hosts = input.hosts();
  if (hosts.ranks() != input.world) {
    throw UsageError(fmt::format("{} hosts with {} ranks in all cannot hold a world of {}",
                                 hosts.hosts(), hosts.ranks(), input.world));
  }
  Classes classes;
  classes.representative.resize(static_cast<std::size_t>(input.world));
  std::iota(classes.representative.begin(), classes.representative.end(), 0);
  classes.host_size = hosts.sizes();
  classes.host_of.reserve(classes.representative.size());
  classes.local.reserve(classes.representative.size());
  for (std::size_t host = 0; host < classes.host_size.size(); ++host) {
    for (plan::Rank place = 0; place < classes.host_size[host]; ++place) {
      classes.host_of.push_back(static_cast<std::int32_t>(host));
      classes.local.push_back(place);
    }
  }
  classes.host_class.resize(classes.host_size.size());
  std::iota(classes.host_class.begin(), classes.host_class.end(), 0);
  classes.host_classes = static_cast<std::int32_t>(classes.host_size.size());
  classes.orbits.first = classes.representative;
  return classes;
}

Classes folded_classes(const plan::Planner& planner, const plan::PlanInput& input) {
  Classes classes = unfolded_classes(input);
  const plan::RanksPerHost hosts = input.hosts();
  classes.orbits = orbits_of(planner.symmetry(input), hosts);
  classes.follow_orbits();
  return classes;
}

}  // namespace paceline::simulator
