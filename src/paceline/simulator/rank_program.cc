// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/rank_program.h"

#include <algorithm>
#include <utility>

namespace paceline::simulator {

const plan::Op& RankProgram::op(std::uint32_t item) const {
  const auto step = static_cast<std::size_t>(
      std::upper_bound(begin.begin(), begin.end() - 1, item) - begin.begin() - 1);
  return steps[step]->ops[item - begin[step]];
}

RankPrograms::RankPrograms(const plan::Planner& planner, plan::PlanInput input, plan::Step steps)
    : planner_(planner), input_(std::move(input)), steps_(steps) {}

/// Returns the rank's program; a new one has a setup but no steps.
RankProgram& RankPrograms::find_or_create(plan::Rank rank) {
  const auto [at, fresh] = programs_.try_emplace(rank);
  if (fresh) {
    input_.rank = rank;
    at->second.setup = planner_.setup(input_);
  }
  return at->second;
}

/// Returns the plan of a variant for the rank in input_, to which `program` belongs. Each variant
/// is planned once.
const plan::CommPlan& RankPrograms::plan(RankProgram& program, plan::Variant variant) {
  const auto known = program.plans.find(variant);
  return known != program.plans.end()
             ? known->second
             : program.plans.emplace(variant, planner_.plan(input_, program.setup, variant))
                   .first->second;
}

const plan::CommPlan& RankPrograms::step_1_plan(plan::Rank rank) {
  RankProgram& program = find_or_create(rank);
  input_.rank = rank;
  return plan(program, planner_.variant(input_, 1));
}

RankPrograms::Partner RankPrograms::partner_of(plan::Rank rank, const plan::Endpoints::Peer& peer,
                                               bool send, std::size_t n, const Orbits& orbits) {
  // The peer's program may be that of the first rank of its orbit, which sees another rank in the
  // position of `rank`.
  const std::optional<plan::Rank> permuted_rank = orbits.permuted_rank(rank, peer.second);
  const RankProgram& theirs =
      of(permuted_rank ? orbits.first[static_cast<std::size_t>(peer.second)] : peer.second);
  return {theirs, theirs.ends.message({peer.first, permuted_rank.value_or(rank)}, !send, n)};
}

const RankProgram& RankPrograms::of(plan::Rank rank) {
  RankProgram& program = find_or_create(rank);
  if (!program.begin.empty()) {
    return program;
  }
  input_.rank = rank;
  std::uint32_t item = 0;
  for (plan::Step step = 0; step < steps_; ++step) {
    const plan::Variant variant = planner_.variant(input_, step);
    const plan::CommPlan& planned = plan(program, variant);
    program.variants.push_back(variant);
    program.steps.push_back(&planned);
    program.begin.push_back(item);
    for (const plan::Op& op : planned.ops) {
      program.ends.add(op, item++);
    }
  }
  program.begin.push_back(item);
  return program;
}

}  // namespace paceline::simulator
