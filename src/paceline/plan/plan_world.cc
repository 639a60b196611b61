// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/plan_world.h"

#include <algorithm>
#include <tuple>

#include "paceline/plan/access.h"
#include "paceline/plan/dependency_analyzer.h"
#include "paceline/plan/describe.h"

namespace paceline::plan {
namespace {

/// Whether the element counts of a collective's two sides fit its pattern.
bool have_matching_counts(const Collective& collective, Elements members) {
  switch (collective.pattern) {
    case Pattern::kAllReduce:
    case Pattern::kBroadcast:
      return collective.in.count == collective.out.count;
    case Pattern::kReduceScatter:
      return collective.in.count == members * collective.out.count;
    case Pattern::kAllGather:
      return collective.out.count == members * collective.in.count;
  }
  return false;
}

}  // namespace

std::vector<Variant> variants_of_steps(const Planner& planner, const PlanInput& input, Step steps) {
  std::vector<Variant> variants;
  for (Step step = 0; step < steps; ++step) {
    variants.push_back(planner.variant(input, step));
  }
  return variants;
}

PlanWorld::PlanWorld(const Planner& planner, const PlanInput& input,
                     const std::vector<Variant>& variants) {
  for (Rank rank = 0; rank < input.world; ++rank) {
    PlanInput mine = input;
    mine.rank = rank;
    Setup setup = planner.setup(mine);
    rank_plans_.push_back({std::move(mine), std::move(setup), {}, {}, {}, {}});
  }
  for (RankPlan& rank_plan_of : rank_plans_) {
    for (const Variant variant : variants) {
      const auto step = static_cast<Step>(rank_plan_of.steps.size());
      if (!rank_plan_of.plans.contains(variant)) {
        rank_plan_of.plans[variant] = planner.plan(rank_plan_of.input, rank_plan_of.setup, variant);
      }
      rank_plan_of.steps.push_back(&rank_plan_of.plans.at(variant));
      const std::vector<Op>& ops = rank_plan_of.steps.back()->ops;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        rank_plan_of.ends.add(ops[i], static_cast<std::uint32_t>(rank_plan_of.items.size()));
        rank_plan_of.items.push_back(
            {.step = step, .index = static_cast<OpIndex>(i), .op = &ops[i]});
      }
    }
  }
  check_setups();
  for (Rank rank = 0; rank < ranks(); ++rank) {
    check_ops(rank);
    check_parameters(rank);
  }
  match_collectives();
  match_messages();
}

std::vector<PlanWorld::ItemRef> PlanWorld::partners(const ItemRef& place) const {
  const Item& item = items(place.rank)[place.item];
  std::vector<ItemRef> all;
  if (std::holds_alternative<Collective>(item.op->work)) {
    const MatchedCollective& collective = collectives_[item.collective];
    const Members& members = communicator(collective).members;
    for (std::size_t m = 0; m < members.size(); ++m) {
      all.push_back({members[m], collective.items[m]});
    }
  }
  for (const std::size_t message : item.sends) {
    all.push_back({messages_[message].to, messages_[message].receive_item});
  }
  for (const std::size_t message : item.receives) {
    all.push_back({messages_[message].from, messages_[message].send_item});
  }
  return all;
}

PlanWorld::ItemDependencies PlanWorld::order(Rank rank) const {
  const RankPlan& mine = rank_plan_of(rank);
  DependencyAnalyzer analyzer(mine.input.model, mine.setup);
  ItemDependencies order;
  std::vector<std::size_t> begin;  // by step: index of its first item
  std::size_t items = 0;
  const auto to_items = [&](const std::vector<Edge>& edges) {
    std::vector<std::size_t> result;
    for (const Edge& edge : edges) {
      result.push_back(begin[static_cast<std::size_t>(edge.step)] +
                       static_cast<std::size_t>(edge.op));
    }
    return result;
  };
  for (std::size_t step = 0; step < mine.steps.size(); ++step) {
    begin.push_back(items);
    const Dependencies dependencies = analyzer.open(static_cast<Step>(step), *mine.steps[step]);
    for (std::size_t i = 0; i < mine.steps[step]->ops.size(); ++i) {
      order.waits_for.push_back(to_items(dependencies.waits_for[i]));
      order.excludes.push_back(to_items(dependencies.excludes[i]));
    }
    items += mine.steps[step]->ops.size();
  }
  return order;
}

std::string PlanWorld::describe(const ItemRef& place) const {
  const RankPlan& mine = rank_plan_of(place.rank);
  if (place.item >= mine.items.size()) {
    return fmt::format("rank {}, which has ended", place.rank);
  }
  const Item& item = mine.items[place.item];
  return fmt::format("rank {}, step {}, op {}: {}", place.rank, item.step, item.index,
                     plan::describe(*item.op, mine.input.model, mine.setup));
}

void PlanWorld::reject(const ItemRef& place, const std::string& why) const {
  throw PlanError(fmt::format("{}: {}", describe(place), why));
}

void PlanWorld::check_setups() const {
  const auto& first = rank_plans_.front().setup.communicators;
  for (Rank rank = 0; rank < ranks(); ++rank) {
    const auto& mine = rank_plan_of(rank).setup.communicators;
    if (!std::ranges::equal(mine, first, {}, &Communicator::order, &Communicator::order)) {
      throw PlanError(fmt::format("rank {} has other communicators than rank 0", rank));
    }
  }
  for (Rank rank = 0; rank < ranks(); ++rank) {
    const auto& mine = rank_plan_of(rank).setup.communicators;
    for (std::size_t on = 0; on < mine.size(); ++on) {
      check_members(mine[on], on);
    }
  }
}

/// Throws PlanError unless all members have the same group in their setups.
void PlanWorld::check_members(const Communicator& communicator, std::size_t on) const {
  const Members& members = communicator.members;
  if (!members.empty() && (members.front() < 0 || members.back() >= ranks())) {
    throw PlanError(fmt::format("communicator '{}' has a member outside the world of {}",
                                communicator.name, ranks()));
  }
  for (const Rank member : members) {
    const Communicator& theirs = rank_plan_of(member).setup.communicators[on];
    if (std::tie(theirs.name, theirs.members) != std::tie(communicator.name, members)) {
      throw PlanError(
          fmt::format("rank {}, a member of communicator '{}', sees other members of '{}'", member,
                      communicator.name, theirs.name));
    }
  }
}

void PlanWorld::check_slice(const ItemRef& place, const Slice& slice) const {
  const Setup& mine = rank_plan_of(place.rank).setup;
  const std::size_t buffer = index_of(slice.buffer);
  if (buffer >= mine.buffers.size() || slice.begin < 0 || slice.count < 0 ||
      slice.begin + slice.count > mine.buffers[buffer].elements) {
    throw PlanError(fmt::format("rank {}, step {}, op {}: elements {} to {} lie outside buffer {}",
                                place.rank, rank_plan_of(place.rank).items[place.item].step,
                                rank_plan_of(place.rank).items[place.item].index, slice.begin,
                                slice.begin + slice.count,
                                buffer < mine.buffers.size() ? mine.buffers[buffer].name : "?"));
  }
}

void PlanWorld::check_member(const ItemRef& place, CommunicatorId on) const {
  const auto& all = rank_plan_of(place.rank).setup.communicators;
  if (index_of(on) >= all.size()) {
    throw PlanError(fmt::format("rank {}: no communicator {}", place.rank, index_of(on)));
  }
  const auto& members = all[index_of(on)].members;
  if (!members.contains(place.rank)) {
    reject(place, "the rank is no member of the communicator");
  }
}

void PlanWorld::check_ops(Rank rank) const {
  const RankPlan& mine = rank_plan_of(rank);
  const Accesses accesses(mine.input.model, mine.setup);
  std::vector<AccessedRange> touches;
  for (std::size_t i = 0; i < mine.items.size(); ++i) {
    const Item& item = mine.items[i];
    const ItemRef place{rank, i};
    accesses.of(*item.op, touches);
    for (const AccessedRange& touch : touches) {
      check_slice(place, touch.slice);
    }
    for (const OpIndex earlier : item.op->after) {
      if (earlier < 0 || earlier >= item.index) {
        reject(place, fmt::format("`after` names op {}, which does not come "
                                  "before it",
                                  earlier));
      }
    }
    if (const auto* collective = std::get_if<Collective>(&item.op->work)) {
      check_member(place, collective->on);
      const Communicator& on = communicator(rank, collective->on);
      if (on.order == plan::IssueOrder::kAsReady) {
        reject(place, "members may issue only messages in orders of their own");
      }
      const auto members = static_cast<Elements>(on.members.size());
      if (!have_matching_counts(*collective, members)) {
        reject(place,
               fmt::format("{} elements in, {} out", collective->in.count, collective->out.count));
      }
    }
    if (const auto* exchange = std::get_if<Exchange>(&item.op->work)) {
      check_member(place, exchange->on);
    }
  }
}

void PlanWorld::check_parameters(Rank rank) const {
  const RankPlan& mine = rank_plan_of(rank);
  const Accesses accesses(mine.input.model, mine.setup);
  std::vector<bool> computed(mine.setup.parameters.size());
  std::vector<bool> written(mine.setup.parameters.size());
  std::vector<AccessedRange> touches;
  for (const Item& item : mine.items) {
    if (const auto* backward = std::get_if<Backward>(&item.op->work)) {
      computed[index_of(backward->parameter)] = true;
      continue;
    }
    accesses.of(*item.op, touches);
    for (std::size_t p = 0; p < written.size(); ++p) {
      written[p] = written[p] || std::ranges::any_of(touches, [&](const AccessedRange& touch) {
                     return touch.write && overlap(touch.slice, mine.setup.parameters[p].value);
                   });
    }
  }
  const bool trains = std::ranges::find(computed, true) != computed.end();
  for (std::size_t p = 0; trains && p < computed.size(); ++p) {
    if (!computed[p] || (!written[p] && mine.setup.parameters[p].value.count > 0)) {
      throw PlanError(fmt::format("rank {}: parameter '{}' is never {}", rank,
                                  mine.input.model.parameters[p].name,
                                  computed[p] ? "updated" : "in a Backward"));
    }
  }
}

}  // namespace paceline::plan
