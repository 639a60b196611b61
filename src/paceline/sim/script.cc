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

const Script& Scripts::of(Rank rank) {
  const auto known = scripts_.find(rank);
  if (known != scripts_.end()) {
    return known->second;
  }
  Script& script = scripts_[rank];
  input_.rank = rank;
  script.setup = planner_.setup(input_);
  script.collectives.resize(communicators_.size());
  std::uint32_t item = 0;
  for (Step step = 0; step < steps_; ++step) {
    const plan::Variant variant = planner_.variant(input_, step);
    auto at = script.plans.find(variant);
    if (at == script.plans.end()) {
      at = script.plans
               .emplace(variant, planner_.plan(input_, script.setup, variant))
               .first;
    }
    script.variants.push_back(variant);
    script.steps.push_back(&at->second);
    script.begin.push_back(item);
    for (const plan::Op& op : at->second.ops) {
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
