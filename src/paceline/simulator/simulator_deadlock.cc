// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/plan/deadlock.h"
#include "paceline/plan/plan_world.h"
#include "paceline/simulator/rank_program.h"
#include "paceline/simulator/simulate.h"

namespace paceline::simulator {

/// Returns the item that must be issued or must end before a ready communication item can be
/// issued: an item that comes first in program order or in its communicator's order, or an item in
/// flight that uses up the credit.  Empty if the item waits for the choice of the leader's queue.
std::optional<ItemId> Simulator::op_required_before(ItemId id) const {
  const Item& item = job_.items[id];
  const auto queue = static_cast<std::uint32_t>(item.queue);
  const std::vector<ItemId>& items = job_.queues[queue].items;
  const ActorState& state = actors_[item.actor];
  if (program_order_ && state.next_in_order != id) {
    return state.next_in_order;
  }
  if (program_order_ && !may_overlap_last(id)) {
    return state.last_issued;
  }
  if (const auto ahead = queues_[queue].op_required_before(item.number)) {
    return items[static_cast<std::size_t>(*ahead)];
  }
  const auto in_flight = [&](ItemId other) {
    return item_[other].issued && item_intervals_[other].end < 0 && job_.items[other].bytes > 0;
  };
  if (queues_[queue].is_held_by_credit(item.number)) {
    return *std::ranges::find_if(items, in_flight);
  }
  return std::nullopt;
}

/// Returns the item for which an unfinished item waits: an earlier item of its rank, an item that
/// must be issued before it, or an item of the same transfer that is not issued.
ItemId Simulator::blocker(ItemId id) const {
  const Item& item = job_.items[id];
  const Actor& actor = job_.actors[item.actor];
  if (!item_[id].ready) {
    for (ItemId other = actor.first; other < id; ++other) {
      const auto behind = job_.dependents_of(other);
      if (item_intervals_[other].end < 0 && std::ranges::find(behind, id) != behind.end()) {
        return other;
      }
    }
  }
  if (item.queue >= 0 && !item_[id].issued) {
    if (const auto ahead = op_required_before(id)) {
      return *ahead;
    }
  }
  for (const TransferId t : job_.transfers_of(item)) {
    for (const ItemId other : job_.items_of(job_.transfers[t])) {
      if (!item_[other].issued) {
        return other;
      }
    }
  }
  return id;
}

void Simulator::throw_deadlock() const {
  ItemId id = 0;
  while (id < item_intervals_.size() && item_intervals_[id].end >= 0) {
    ++id;
  }
  PACELINE_CHECK(id < item_intervals_.size());
  throw plan::PlanError(plan::deadlock(
      id, [this](ItemId at) { return blocker(at); },
      [this](ItemId at) { return describe(job_, at); }));
}

}  // namespace paceline::simulator
