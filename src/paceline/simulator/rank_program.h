// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/matching.h"
#include "paceline/plan/plan_input.h"
#include "paceline/simulator/classes.h"

namespace paceline::simulator {

/// The plans of the first steps of one rank, and the positions of each collective and message in
/// them (`ends`).
struct RankProgram {
  plan::Setup setup;
  std::map<plan::Variant, plan::CommPlan> plans;
  std::vector<const plan::CommPlan*> steps;
  std::vector<plan::Variant> variants;  // variant of each step
  /// Index of each step's first item, and then the end of all items.
  std::vector<std::uint32_t> begin;
  plan::Endpoints ends;

  const plan::Op& op(std::uint32_t item) const;
  const plan::Communicator& on(plan::CommunicatorId id) const {
    return setup.communicators[plan::index_of(id)];
  }
};

/// The programs of ranks. Each rank is planned when its program is first requested.
class RankPrograms {
 public:
  RankPrograms(const plan::Planner& planner, plan::PlanInput input, plan::Step steps);

  const RankProgram& of(plan::Rank rank);

  /// The position of a message in the peer's program.  `end` is null if the peer has no such
  /// message.  `program` may be that of the first rank of the peer's orbit.
  struct Partner {
    const RankProgram& program;
    const plan::Endpoints::End* end = nullptr;
  };
  Partner partner_of(plan::Rank rank, const plan::Endpoints::Peer& peer, bool send, std::size_t n,
                     const Orbits& orbits);

  /// Returns the plan of a rank's step 1, and plans no other step of that rank.
  const plan::CommPlan& step_1_plan(plan::Rank rank);

  plan::PlanInput& input() { return input_; }

 private:
  RankProgram& find_or_create(plan::Rank rank);
  const plan::CommPlan& plan(RankProgram& program, plan::Variant variant);

  const plan::Planner& planner_;
  plan::PlanInput input_;
  plan::Step steps_;
  std::map<plan::Rank, RankProgram> programs_;
};

}  // namespace paceline::simulator
