// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::testing {

/// The ops of TinyPlan::plan, by index.
enum TinyOp : plan::OpIndex {
  kForwardFirst,
  kForwardSecond,
  kBackwardSecond,
  kBackwardFirst,
  kReduceSecond,
  kReduceFirst,
  kUpdateSecond,
  kUpdateFirst,
};

inline constexpr plan::ModuleId kFirstModule{0};
inline constexpr plan::ModuleId kSecondModule{1};
inline constexpr plan::ParameterId kFirst{0};
inline constexpr plan::ParameterId kSecond{1};

/// Two modules of one parameter each; each gradient has an all-reduce and an update of its own
/// (wfbp).  Two ranks.
struct TinyPlan {
  TinyPlan() {
    input.world = 2;
    input.model.name = "tiny";
    input.model.modules = {"first", "second"};
    input.model.parameters = {
        {.name = "first.weight", .sizes = {2}, .elements = 2, .module = kFirstModule},
        {.name = "second.weight", .sizes = {2}, .elements = 2, .module = kSecondModule}};
    input.model.ready_order = {kSecond, kFirst};
    setup.buffers = {{.name = "values", .elements = 4}, {.name = "gradients", .elements = 4}};
    for (const plan::Elements begin : {0, 2}) {
      setup.parameters.push_back(
          {.value = {plan::BufferId{0}, begin, 2}, .gradient = {plan::BufferId{1}, begin, 2}});
    }
    setup.communicators = {{.name = "grad", .members = {0, 1}}};
  }

  plan::CommPlan ops() const {
    const auto reduce = [&](plan::ParameterId p) {
      const plan::Slice slice = setup.parameters[plan::index_of(p)].gradient;
      return plan::Op{plan::Collective{.pattern = plan::Pattern::kAllReduce,
                                       .in = slice,
                                       .out = slice,
                                       .reduce = plan::Reduce::kSum}};
    };
    const auto update = [&](plan::ParameterId p) {
      const plan::ParameterPlacement& at = setup.parameters[plan::index_of(p)];
      return plan::Op{plan::Kernel{.name = "update",
                                   .reads = {{at.value}, {at.gradient}},
                                   .writes = {{at.value}},
                                   .numbers = {}}};
    };
    return {{plan::Op{plan::Forward{kFirstModule}}, plan::Op{plan::Forward{kSecondModule}},
             plan::Op{plan::Backward{kSecond}}, plan::Op{plan::Backward{kFirst}}, reduce(kSecond),
             reduce(kFirst), update(kSecond), update(kFirst)}};
  }

  std::shared_ptr<const plan::CommPlan> plan() const {
    return std::make_shared<const plan::CommPlan>(ops());
  }

  /// The same, and then a broadcast of the first module's values.
  std::shared_ptr<const plan::CommPlan> plan_with_broadcast() const {
    plan::CommPlan all = ops();
    const plan::Slice values = setup.parameters[0].value;
    all.ops.push_back(plan::Op{
        plan::Collective{.pattern = plan::Pattern::kBroadcast, .in = values, .out = values}});
    return std::make_shared<const plan::CommPlan>(std::move(all));
  }

  /// The same, but other code than the executor issues the all-reduces.
  std::shared_ptr<const plan::CommPlan> plan_with_other_owner() const {
    plan::CommPlan all = ops();
    all.ops[kReduceSecond].performer = "another";
    all.ops[kReduceFirst].performer = "another";
    return std::make_shared<const plan::CommPlan>(std::move(all));
  }

  plan::PlanInput input;
  plan::Setup setup;
};

}  // namespace paceline::testing
