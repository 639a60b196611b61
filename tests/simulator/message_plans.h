// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/plan/plan_input.h"
#include "paceline/plan/program.h"

// Plans with messages, written by hand.

namespace paceline::simulator {

/// After its update each rank sends all its values to the ranks at `distances` (modulo the world)
/// and receives from as many (adapt then combine).
class Neighbors final : public plan::Planner {
 public:
  explicit Neighbors(std::vector<plan::Rank> distances) : distances_(std::move(distances)) {}

  plan::Setup setup(const plan::PlanInput& input) const override;
  plan::Variant variant(const plan::PlanInput&, plan::Step) const override { return 0; }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override;
  plan::Symmetry symmetry(const plan::PlanInput& input) const override {
    return plan::symmetry_in_a_ring(input.world);
  }

 private:
  std::vector<plan::Rank> distances_;
};

/// One partner a step, at distance 2^(step mod log2 world): sends to it and receives from the one
/// before.
class OnePeer final : public plan::Planner {
 public:
  plan::Setup setup(const plan::PlanInput& input) const override;
  plan::Variant variant(const plan::PlanInput& input, plan::Step step) const override;
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override;
  plan::Symmetry symmetry(const plan::PlanInput& input) const override {
    return plan::symmetry_in_a_ring(input.world);
  }
};

/// The last `servers` ranks hold the parameters, tensor i on server i mod servers; workers push
/// each gradient as it comes and pull all.
class Servers final : public plan::Planner {
 public:
  explicit Servers(plan::Rank servers) : servers_(servers) {}

  plan::Setup setup(const plan::PlanInput& input) const override;
  plan::Variant variant(const plan::PlanInput&, plan::Step) const override { return 0; }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override;
  plan::Symmetry symmetry(const plan::PlanInput& input) const override {
    return plan::symmetry_in_any_order(input.world - servers_);
  }

 private:
  plan::Rank servers_;
};

/// Two ranks that each receive before they send: nothing can move.
class Crossed final : public plan::Planner {
 public:
  plan::Setup setup(const plan::PlanInput& input) const override;
  plan::Variant variant(const plan::PlanInput&, plan::Step) const override { return 0; }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override;
};

}  // namespace paceline::simulator
