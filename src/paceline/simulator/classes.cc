// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/classes.h"

#include <algorithm>
#include <numeric>

#include "paceline/base/error.h"
#include "paceline/simulator/job.h"
#include "paceline/simulator/script.h"

namespace paceline::simulator {
namespace {

/// Most ops and messages, of all ranks and steps, that are planned to find the
/// classes.
constexpr std::int64_t kMostRefined = 4'000'000;

/// All ranks on one host where the input does not say.
plan::RanksPerHost hosts_of(const plan::PlanInput& input) {
  plan::RanksPerHost hosts = input.local_world;
  if (hosts.empty()) {
    hosts.add(1, input.world);
  }
  return hosts;
}

/// Whether `steps` steps of the first of each orbit are few enough; asks rank 0
/// before the others.
bool is_small(Scripts& scripts, const Classes& classes, plan::Step steps) {
  const auto work_of = [&](plan::Rank rank) {
    const plan::CommPlan& plan = scripts.a_step(rank);
    return steps *
           (static_cast<std::int64_t>(plan.ops.size()) + messages_of(plan));
  };
  std::int64_t work = work_of(0);
  bool small = work <= kMostRefined / classes.count();
  for (plan::Rank rank = 1; small && rank < classes.world(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    work += classes.orbits.first[r] == rank ? work_of(rank) : 0;
    small = work <= kMostRefined;
  }
  return small;
}

}  // namespace

plan::Rank Classes::count() const {
  plan::Rank count = 0;
  for (plan::Rank rank = 0; rank < world(); ++rank) {
    count += stand_in[static_cast<std::size_t>(rank)] == rank ? 1 : 0;
  }
  return count;
}

/// Hosts that hold a rank of one class hold the same of all classes, so the
/// smallest stand-in on a host tells its class.
void Classes::follow_orbits() {
  std::vector<plan::Rank> smallest(host_size.size(), world());
  for (plan::Rank rank = 0; rank < world(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    stand_in[r] = stand_in[static_cast<std::size_t>(orbits.first[r])];
    plan::Rank& least = smallest[static_cast<std::size_t>(host_of[r])];
    least = std::min(least, stand_in[r]);
  }
  std::vector<std::int32_t> known(stand_in.size(), -1);
  host_classes = 0;
  for (std::size_t host = 0; host < host_size.size(); ++host) {
    std::int32_t& number = known[static_cast<std::size_t>(smallest[host])];
    if (number < 0) {
      number = host_classes++;
    }
    host_class[host] = number;
  }
}

Classes unfolded(const plan::PlanInput& input) {
  const plan::RanksPerHost hosts = hosts_of(input);
  if (hosts.ranks() != input.world) {
    throw UsageError(
        fmt::format("{} hosts with {} ranks in all cannot hold a world of {}",
                    hosts.hosts(),
                    hosts.ranks(),
                    input.world));
  }
  Classes classes;
  classes.stand_in.resize(static_cast<std::size_t>(input.world));
  std::iota(classes.stand_in.begin(), classes.stand_in.end(), 0);
  classes.host_size = hosts.sizes();
  classes.host_of.reserve(classes.stand_in.size());
  classes.local.reserve(classes.stand_in.size());
  for (std::size_t host = 0; host < classes.host_size.size(); ++host) {
    for (plan::Rank place = 0; place < classes.host_size[host]; ++place) {
      classes.host_of.push_back(static_cast<std::int32_t>(host));
      classes.local.push_back(place);
    }
  }
  classes.host_class.resize(classes.host_size.size());
  std::iota(classes.host_class.begin(), classes.host_class.end(), 0);
  classes.host_classes = static_cast<std::int32_t>(classes.host_size.size());
  classes.orbits.first = classes.stand_in;
  return classes;
}

Classes folded(const plan::Planner& planner, const plan::PlanInput& input) {
  Classes classes = unfolded(input);
  const plan::RanksPerHost hosts = hosts_of(input);
  classes.orbits = orbits_of(planner.symmetry(input), hosts);
  classes.stand_in = classes.orbits.first;
  const plan::Step steps = period_of(planner, input) + 1;
  if (classes.count() > 1) {
    Scripts scripts(planner, input, steps);
    if (is_small(scripts, classes, steps)) {
      return refined(scripts, classes);
    }
  }
  classes.follow_orbits();
  return classes;
}

}  // namespace paceline::simulator
