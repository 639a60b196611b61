// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/script.h"

#include <algorithm>
#include <utility>

namespace paceline::simulator {

using plan::Collective;
using plan::Exchange;

const plan::Op& Script::op(std::uint32_t item) const {
  const auto step = static_cast<std::size_t>(
      std::upper_bound(begin.begin(), begin.end() - 1, item) - begin.begin() -
      1);
  return steps[step]->ops[item - begin[step]];
}

Scripts::Scripts(const plan::Planner& planner,
                 plan::PlanInput input,
                 plan::Step steps)
    : planner_(planner), input_(std::move(input)), steps_(steps) {}

/// The rank's script with a setup, and maybe no steps yet.
Script& Scripts::begun(plan::Rank rank) {
  const auto [at, fresh] = scripts_.try_emplace(rank);
  if (fresh) {
    input_.rank = rank;
    at->second.setup = planner_.setup(input_);
  }
  return at->second;
}

/// Of the rank in input_; each is planned once.
const plan::CommPlan& Scripts::plan(Script& script, plan::Variant variant) {
  const auto known = script.plans.find(variant);
  return known != script.plans.end()
             ? known->second
             : script.plans
                   .emplace(variant,
                            planner_.plan(input_, script.setup, variant))
                   .first->second;
}

const plan::CommPlan& Scripts::a_step(plan::Rank rank) {
  Script& script = begun(rank);
  input_.rank = rank;
  return plan(script, planner_.variant(input_, 1));
}

std::int64_t messages_of(const plan::CommPlan& plan) {
  std::size_t messages = 0;
  for (const plan::Op& op : plan.ops) {
    if (const auto* exchange = std::get_if<Exchange>(&op.work)) {
      messages += exchange->sends.size() + exchange->receives.size();
    }
  }
  return static_cast<std::int64_t>(messages);
}

Scripts::Partner Scripts::partner_of(plan::Rank rank,
                                     const Script::Peer& peer,
                                     bool send,
                                     std::size_t n,
                                     const Orbits& orbits) {
  // Seen from the first of the peer's orbit, the rank is another one.
  const std::optional<plan::Rank> moved = orbits.moved(rank, peer.second);
  const Script& theirs =
      of(moved ? orbits.first[static_cast<std::size_t>(peer.second)]
               : peer.second);
  const auto& lists = send ? theirs.receives : theirs.sends;
  const auto found = lists.find({peer.first, moved.value_or(rank)});
  const bool is_there = found != lists.end() && n < found->second.size();
  return {theirs, is_there ? &found->second[n] : nullptr};
}

const Script& Scripts::of(plan::Rank rank) {
  Script& script = begun(rank);
  if (!script.begin.empty()) {
    return script;
  }
  input_.rank = rank;
  std::uint32_t item = 0;
  for (plan::Step step = 0; step < steps_; ++step) {
    const plan::Variant variant = planner_.variant(input_, step);
    const plan::CommPlan& planned = plan(script, variant);
    script.variants.push_back(variant);
    script.steps.push_back(&planned);
    script.begin.push_back(item);
    for (const plan::Op& op : planned.ops) {
      if (const auto* collective = std::get_if<Collective>(&op.work)) {
        script.collectives[collective->on].push_back(item);
      } else if (const auto* exchange = std::get_if<Exchange>(&op.work)) {
        for (std::uint32_t s = 0; s < exchange->sends.size(); ++s) {
          script.sends[{exchange->on, exchange->sends[s].peer}].push_back(
              {item, s});
        }
        for (std::uint32_t s = 0; s < exchange->receives.size(); ++s) {
          script.receives[{exchange->on, exchange->receives[s].peer}].push_back(
              {item, s});
        }
      }
      ++item;
    }
  }
  script.begin.push_back(item);
  return script;
}

}  // namespace paceline::simulator
