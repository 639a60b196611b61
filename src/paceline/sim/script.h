// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::sim {

/// Some steps of one rank's plan, and where in them it meets others.
struct Script {
  /// An Exchange, by its place in the script, and a slot of its list.
  struct End {
    std::uint32_t item = 0, slot = 0;
  };
  using Peer = std::pair<plan::CommunicatorId, plan::Rank>;

  plan::Setup setup;  // its communicators are those of Scripts
  std::map<plan::Variant, plan::CommPlan> plans;
  std::vector<const plan::CommPlan*> steps;
  std::vector<plan::Variant> variants;  // by step
  std::vector<std::uint32_t> begin;     // by step: its first item; then the end
  std::vector<std::vector<std::uint32_t>> collectives;  // by communicator
  std::map<Peer, std::vector<End>> sends, receives;

  const plan::Op& op(std::uint32_t item) const;
  bool exchanges() const { return !sends.empty() || !receives.empty(); }
};

/// Plans ranks when they are first asked for.
class Scripts {
 public:
  Scripts(const plan::Planner& planner,
          plan::PlanInput input,
          plan::Step steps);

  const Script& of(plan::Rank rank);

  /// Ops of rank 0 in its second step, of which no more is planned.
  std::size_t ops_of_a_step();

  const std::vector<plan::Communicator>& communicators() const {
    return communicators_;
  }
  const plan::Communicator& on(plan::CommunicatorId id) const {
    return communicators_[plan::index_of(id)];
  }
  plan::PlanInput& input() { return input_; }

 private:
  Script& begun(plan::Rank rank);
  const plan::CommPlan& plan(Script& script, plan::Variant variant);

  const plan::Planner& planner_;
  plan::PlanInput input_;
  plan::Step steps_;
  std::vector<plan::Communicator> communicators_;
  std::map<plan::Rank, Script> scripts_;
};

}  // namespace paceline::sim
