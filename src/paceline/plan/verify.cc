// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/verify.h"

#include <algorithm>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/plan/access.h"
#include "paceline/plan/interpreter.h"

namespace paceline::plan {
namespace {

/// A machine that moves nothing, to run the interpreter for its checks of the order alone.
class NullMachine final : public Machine {
 public:
  void forward(Rank, Step, const Forward&) override {}
  void backward(Rank, Step, const Backward&) override {}
  void kernel(Rank, Step, const Kernel&) override {}
  void collective(const Communicator&, const std::vector<const Collective*>&) override {}
  void send(Rank, const Slice&, std::size_t) override {}
  void receive(Rank, const Slice&, std::size_t) override {}
};

/// A planner whose steps are the first `steps` of `planner`, then one step of each variant that
/// these did not run.
class EachVariant final : public Planner {
 public:
  EachVariant(const Planner& planner, const PlanInput& input, Step steps) : planner_(planner) {
    for (Step step = 0; step < steps; ++step) {
      variants_.push_back(planner.variant(input, step));
    }
    for (const Variant variant : variants_of(planner, input)) {
      add_once(variants_, variant);
    }
  }

  Step steps() const { return static_cast<Step>(variants_.size()); }

  Setup setup(const PlanInput& input) const override { return planner_.setup(input); }
  Variant variant(const PlanInput&, Step step) const override {
    return variants_[static_cast<std::size_t>(step)];
  }
  CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const override {
    return planner_.plan(input, setup, variant);
  }
  Rank training_ranks(const PlanInput& input) const override {
    return planner_.training_ranks(input);
  }
  Symmetry symmetry(const PlanInput& input) const override { return planner_.symmetry(input); }

 private:
  const Planner& planner_;
  std::vector<Variant> variants_;  // variant of each step
};

/// The slices that kernels of the rank access with slack.
std::vector<Slice> slack_slices(const PlanWorld& world, Rank rank) {
  std::vector<Slice> slices;
  const auto add = [&](const std::vector<Access>& accesses) {
    for (const Access& access : accesses) {
      if (access.slack > 0 && std::ranges::count(slices, access.slice) == 0) {
        slices.push_back(access.slice);
      }
    }
  };
  for (const PlanWorld::Item& item : world.items(rank)) {
    if (const auto* kernel = std::get_if<Kernel>(&item.op->work)) {
      add(kernel->reads);
      add(kernel->writes);
    }
  }
  return slices;
}

/// Throws PlanError unless only kernels access elements with slack: ops that exclude each other
/// must be kernels, because other ops cannot be held back between their start and their end.
void check_slack(const PlanWorld& world) {
  for (Rank rank = 0; rank < world.ranks(); ++rank) {
    const std::vector<Slice> slices = slack_slices(world, rank);
    const Accesses accesses(world.input(rank).model, world.setup(rank));
    for (std::size_t i = 0; !slices.empty() && i < world.items(rank).size(); ++i) {
      const Op& op = *world.items(rank)[i].op;
      if (std::holds_alternative<Kernel>(op.work)) {
        continue;
      }
      std::vector<Touch> touches;
      accesses.of(op, touches);
      for (const Touch& touch : touches) {
        if (std::ranges::any_of(slices,
                                [&](const Slice& slice) { return overlap(slice, touch.slice); })) {
          throw PlanError(
              fmt::format("{}: elements that are accessed with slack are for kernels alone; let "
                          "this op use others, and a kernel copy them",
                          world.describe({rank, i})));
        }
      }
    }
  }
}

}  // namespace

void verify(const Planner& planner, const PlanInput& input, Step steps, bool one_issue_order) {
  const EachVariant each(planner, input, steps);
  const PlanWorld world(each, input, each.steps());
  check_slack(world);
  NullMachine machine;
  interpret(world, machine);
  verify_overlapped(world);
  if (one_issue_order) {
    verify_one_order(world);
  }
}

}  // namespace paceline::plan
