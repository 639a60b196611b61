// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paceline/plan/program.h"

// Plans written by hand in tests, to exercise what no planner of the suite
// uses yet: exchanges, shards, priority, credit, variants.

namespace paceline::plan {

/// A planner made of three functions.
class HandPlanner final : public Planner {
 public:
  using MakeSetup = std::function<Setup(const PlanInput&)>;
  using Write = std::function<void(Program&, Variant)>;

  HandPlanner(MakeSetup make_setup, Write write, Step period = 1)
      : make_setup_(std::move(make_setup)), write_(std::move(write)), period_(period) {}

  Setup setup(const PlanInput& input) const override { return make_setup_(input); }
  Variant variant(const PlanInput&, Step step) const override { return step % period_; }
  CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const override {
    Program program(input, setup);
    write_(program, variant);
    return std::move(program).finish();
  }

 private:
  MakeSetup make_setup_;
  Write write_;
  Step period_;
};

struct HandPlan {
  std::string name;
  Rank world;
  std::function<HandPlanner()> make;
};

/// Every hand-written plan whose result does not depend on timing.
std::vector<HandPlan> strict_hand_plans();

}  // namespace paceline::plan
