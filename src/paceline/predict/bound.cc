// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/bound.h"

#include <algorithm>
#include <vector>

#include "paceline/base/error.h"

namespace paceline::predict {
namespace {

/// Returns whether, on `actor`, some communication of step 1 may end after the first Forward op of
/// step 2 has begun.
bool has_communication_across_step(const simulator::Job& job, const simulator::Actor& actor) {
  if (!actor.trains || actor.steps.size() < 4) {
    return false;
  }
  const simulator::ItemId first = actor.steps[1], next = actor.steps[2];
  simulator::ItemId forward = next;
  while (forward < actor.steps[3] && !simulator::is_model_work(job.items[forward])) {
    ++forward;
  }
  // Walks backwards from that Forward, and marks all items for which it waits.
  std::vector<char> before(job.items.size(), 0);
  before[forward] = 1;
  for (simulator::ItemId id = forward; id-- > first;) {
    for (const simulator::ItemId later : job.dependents_of(id)) {
      if (later <= forward && before[later] != 0) {
        before[id] = 1;
      }
    }
  }
  for (simulator::ItemId id = first; id < next; ++id) {
    if (communicates(job.items[id]) && before[id] == 0) {
      return true;
    }
  }
  return false;
}

/// Returns whether some communication of step 1 waits for no gradient of that step, as when
/// parameters are exchanged during the forward pass.
bool has_communication_before_gradients(const simulator::Job& job) {
  std::vector<char> behind(job.items.size(), 0);
  std::vector<simulator::ItemId> found;
  const auto reach = [&](simulator::ItemId id) {
    if (behind[id] == 0) {
      behind[id] = 1;
      found.push_back(id);
    }
  };
  for (const simulator::Actor& actor : job.actors) {
    for (simulator::ItemId id = actor.steps[1]; id < actor.steps[2]; ++id) {
      if (job.items[id].kind == simulator::ItemKind::kBackward) {
        reach(id);
      }
    }
  }
  while (!found.empty()) {
    const simulator::ItemId id = found.back();
    found.pop_back();
    std::ranges::for_each(job.dependents_of(id), reach);
    for (const simulator::TransferId t : job.transfers_of(job.items[id])) {
      std::ranges::for_each(job.items_of(job.transfers[t]), reach);
    }
  }
  for (const simulator::Actor& actor : job.actors) {
    for (simulator::ItemId id = actor.steps[1]; id < actor.steps[2]; ++id) {
      if (communicates(job.items[id]) && behind[id] == 0) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Bound bound_of(const simulator::Job& job, const simulator::Costs& costs) {
  Bound bound;
  simulator::Costs bare = costs;
  bare.software = {};
  bare.machine.noise = {};
  bare.machine.interference = {};
  simulator::Simulator simulator(job);
  simulator.set_costs(bare);
  if (std::ranges::any_of(job.collective_shapes, [](const cluster::CollectiveCall& call) {
        return call.group.ranks > 1;
      })) {
    bound.algorithm = costs.machine.algorithm;
  }
  bound.wire = simulator.busiest_link_time();
  plan::Picoseconds before_wire = 0;
  for (const simulator::Actor& actor : job.actors) {
    if (!actor.trains) {
      continue;
    }
    plan::Picoseconds compute = 0, until_first = 0;
    bool found = false;
    for (simulator::ItemId id = actor.steps[1]; id < actor.steps[2]; ++id) {
      const simulator::Item& item = job.items[id];
      if (!simulator::is_model_work(item)) {
        continue;
      }
      const auto subject = static_cast<std::size_t>(item.subject);
      compute += item.kind == simulator::ItemKind::kForward ? costs.profile.forward[subject]
                                                            : costs.profile.backward[subject];
      if (item.kind == simulator::ItemKind::kBackward && !found) {
        found = true;
        until_first = compute;
      }
    }
    bound.compute = std::max(bound.compute, compute);
    before_wire = std::max(before_wire, until_first);
    bound.crosses_step = bound.crosses_step || has_communication_across_step(job, actor);
  }
  const bool waits =
      !bound.crosses_step && bound.wire > 0 && !has_communication_before_gradients(job);
  bound.step = std::max(bound.compute, bound.wire + (waits ? before_wire : 0));
  return bound;
}

}  // namespace paceline::predict
