// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/script.h"

#include <algorithm>
#include <utility>

namespace paceline::sim {

using plan::Collective;
using plan::Exchange;
using plan::Rank;
using plan::Step;

const plan::Op& Script::op(std::uint32_t item) const {
  const auto step = static_cast<std::size_t>(
      std::upper_bound(begin.begin(), begin.end() - 1, item) - begin.begin() -
      1);
  return steps[step]->ops[item - begin[step]];
}

Scripts::Scripts(const plan::Planner& planner,
                 plan::PlanInput input,
                 Step steps)
    : planner_(planner), input_(std::move(input)), steps_(steps) {
  input_.rank = 0;
  communicators_ = planner.setup(input_).communicators;
}

/// The rank's script with a setup, and maybe no steps yet.
Script& Scripts::begun(Rank rank) {
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

std::size_t Scripts::ops_of_a_step() {
  Script& script = begun(0);
  input_.rank = 0;
  return plan(script, planner_.variant(input_, 1)).ops.size();
}

const Script& Scripts::of(Rank rank) {
  Script& script = begun(rank);
  if (!script.begin.empty()) {
    return script;
  }
  input_.rank = rank;
  script.collectives.resize(communicators_.size());
  std::uint32_t item = 0;
  for (Step step = 0; step < steps_; ++step) {
    const plan::Variant variant = planner_.variant(input_, step);
    const plan::CommPlan& planned = plan(script, variant);
    script.variants.push_back(variant);
    script.steps.push_back(&planned);
    script.begin.push_back(item);
    for (const plan::Op& op : planned.ops) {
      if (const auto* collective = std::get_if<Collective>(&op.work)) {
        script.collectives.at(plan::index_of(collective->on)).push_back(item);
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
  script.setup.communicators = {};  // one list is enough for all ranks
  return script;
}

}  // namespace paceline::sim
