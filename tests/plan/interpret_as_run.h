// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "paceline/plan/dependency_analyzer.h"
#include "paceline/plan/interpreter.h"
#include "paceline/plan/plan_world.h"

namespace paceline::plan {

/// The kernels of one rank in the order in which they ran.
using KernelOrder = std::vector<Edge>;

/// Runs plans with slack op by op, as interpret() runs those without.
///
/// Kernels that exclude each other have no order of their own.  Here they keep that of a run, so
/// that each reads what it has read there.  All else is ordered by the hazards, model work by the
/// program.
class InterpreterOfRun {
 public:
  /// `ran` by rank.
  InterpreterOfRun(const PlanWorld& world, const std::vector<KernelOrder>& ran, Machine& machine)
      : world_(world), machine_(machine), deposited_(world.messages().size()) {
    for (Rank rank = 0; rank < world.ranks(); ++rank) {
      add_side(rank, ran[static_cast<std::size_t>(rank)]);
    }
  }

  /// False where what is left waits for each other: no run had that order.
  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank rank = 0; rank < world_.ranks(); ++rank) {
        for (std::size_t item = 0; item < world_.items(rank).size(); ++item) {
          const PlanWorld::ItemRef place{rank, item};
          moved = (is_ready(place) && advance(place)) || moved;
        }
      }
    }
    return std::ranges::all_of(sides_, [](const Side& side) {
      return std::ranges::find(side.done, false) == side.done.end();
    });
  }

 private:
  struct Side {
    std::vector<std::vector<std::size_t>> waits_for;  // by item
    std::vector<bool> done, sent;                     // likewise
  };

  Side& side(Rank rank) { return sides_[static_cast<std::size_t>(rank)]; }

  void add_side(Rank rank, const KernelOrder& ran) {
    const auto& items = world_.items(rank);
    std::map<Edge, std::size_t> turn;
    for (std::size_t i = 0; i < ran.size(); ++i) {
      turn.emplace(ran[i], i);
    }
    const auto turn_of = [&](std::size_t item) {
      return turn.at({items[item].step, items[item].index});
    };
    PlanWorld::ItemDependencies order = world_.order(rank);
    std::optional<std::size_t> model_work;
    for (std::size_t item = 0; item < items.size(); ++item) {
      for (const std::size_t other : order.excludes[item]) {
        const bool before = turn_of(other) < turn_of(item);
        order.waits_for[before ? item : other].push_back(before ? other : item);
      }
      if (is_model_work(*items[item].op)) {
        if (model_work) {
          order.waits_for[item].push_back(*model_work);
        }
        model_work = item;
      }
    }
    sides_.push_back({.waits_for = std::move(order.waits_for),
                      .done = std::vector<bool>(items.size()),
                      .sent = std::vector<bool>(items.size())});
  }

  bool is_ready(const PlanWorld::ItemRef& place) {
    const Side& mine = side(place.rank);
    return !mine.done[place.item] &&
           std::ranges::all_of(mine.waits_for[place.item],
                               [&](std::size_t other) { return mine.done[other]; });
  }

  /// False where nothing could be done.
  bool advance(const PlanWorld::ItemRef& place) {
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    if (std::holds_alternative<Collective>(item.op->work)) {
      return meet(world_.collectives()[item.collective]);
    }
    if (const auto* exchange = std::get_if<Exchange>(&item.op->work)) {
      return deliver(place, item, *exchange);
    }
    if (const auto* forward = std::get_if<Forward>(&item.op->work)) {
      machine_.forward(place.rank, item.step, *forward);
    } else if (const auto* backward = std::get_if<Backward>(&item.op->work)) {
      machine_.backward(place.rank, item.step, *backward);
    } else {
      machine_.kernel(place.rank, item.step, std::get<Kernel>(item.op->work));
    }
    side(place.rank).done[place.item] = true;
    return true;
  }

  bool meet(const PlanWorld::MatchedCollective& collective) {
    const Communicator& on = world_.communicator(collective);
    std::vector<const Collective*> parts;
    for (std::size_t m = 0; m < on.members.size(); ++m) {
      const PlanWorld::ItemRef member{on.members[m], collective.items[m]};
      if (!is_ready(member)) {
        return false;
      }
      parts.push_back(&std::get<Collective>(world_.items(member.rank)[member.item].op->work));
    }
    machine_.collective(on, parts);
    for (std::size_t m = 0; m < on.members.size(); ++m) {
      side(on.members[m]).done[collective.items[m]] = true;
    }
    return true;
  }

  /// A send is done as soon as its value is deposited.
  bool deliver(const PlanWorld::ItemRef& place, const PlanWorld::Item& item,
               const Exchange& exchange) {
    Side& mine = side(place.rank);
    const bool sends = !mine.sent[place.item];
    for (std::size_t s = 0; sends && s < item.sends.size(); ++s) {
      machine_.send(place.rank, exchange.sends[s].slice, item.sends[s]);
      deposited_[item.sends[s]] = true;
    }
    mine.sent[place.item] = true;
    if (!std::ranges::all_of(item.receives,
                             [&](std::size_t message) { return deposited_[message]; })) {
      return sends;
    }
    for (std::size_t s = 0; s < item.receives.size(); ++s) {
      machine_.receive(place.rank, exchange.receives[s].slice, item.receives[s]);
    }
    mine.done[place.item] = true;
    return true;
  }

  const PlanWorld& world_;
  Machine& machine_;
  std::vector<Side> sides_;      // by rank
  std::vector<bool> deposited_;  // by message
};

}  // namespace paceline::plan
