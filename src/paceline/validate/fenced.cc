// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/fenced.h"

#include <algorithm>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/plan/plan_input.h"

namespace paceline::validate {
namespace {

bool is_update(const plan::Op& op) {
  const auto* kernel = std::get_if<plan::Kernel>(&op.work);
  return kernel != nullptr &&
         (kernel->name == "update" || kernel->name == "count");
}

/// A planner whose programs are another's, changed.
class Changed : public plan::Planner {
 public:
  explicit Changed(std::unique_ptr<plan::Planner> planner)
      : planner_(std::move(planner)) {}

  plan::Setup setup(const plan::PlanInput& input) const override {
    return planner_->setup(input);
  }
  plan::Variant variant(const plan::PlanInput& input,
                        plan::Step step) const override {
    return planner_->variant(input, step);
  }
  plan::Symmetry symmetry(const plan::PlanInput& input) const override {
    return planner_->symmetry(input);
  }

  plan::CommPlan plan(const plan::PlanInput& input,
                      const plan::Setup& setup,
                      plan::Variant variant) const override {
    plan::CommPlan plan = planner_->plan(input, setup, variant);
    change(plan);
    return plan;
  }

 private:
  /// No op of the plans at hand names another in `after`, so ops may move
  /// where hazards allow it.
  virtual void change(plan::CommPlan& plan) const = 0;

  std::unique_ptr<plan::Planner> planner_;
};

class Fenced final : public Changed {
 public:
  using Changed::Changed;

 private:
  /// Updates keep their order, behind everything else.
  void change(plan::CommPlan& plan) const override {
    std::stable_partition(plan.ops.begin(),
                          plan.ops.end(),
                          [](const plan::Op& op) { return !is_update(op); });
    plan::OpIndex last = -1;
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
      if (plan::communicator_of(plan.ops[i]).has_value()) {
        last = static_cast<plan::OpIndex>(i);
      } else if (is_update(plan.ops[i]) && last >= 0) {
        plan.ops[i].after = {last};
      }
    }
  }
};

}  // namespace

std::unique_ptr<plan::Planner> fenced(std::unique_ptr<plan::Planner> planner) {
  return std::make_unique<Fenced>(std::move(planner));
}

}  // namespace paceline::validate
