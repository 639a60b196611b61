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

/// A machine that does not execute anything, so that the interpreter only checks the order of the
/// ops.
class NullMachine final : public Machine {
 public:
  void forward(Rank, Step, const Forward&) override {}
  void backward(Rank, Step, const Backward&) override {}
  void kernel(Rank, Step, const Kernel&) override {}
  void collective(const Communicator&, const std::vector<const Collective*>&) override {}
  void send(Rank, const Slice&, std::size_t) override {}
  void receive(Rank, const Slice&, std::size_t) override {}
};

/// Returns the variants of the first `steps` steps, followed by each variant that does not occur in
/// these steps.
std::vector<Variant> variants_with_remaining(const Planner& planner, const PlanInput& input,
                                             Step steps) {
  std::vector<Variant> variants = variants_of_steps(planner, input, steps);
  for (const Variant variant : variants_of(planner, input)) {
    add_once(variants, variant);
  }
  return variants;
}

/// Returns the slices that kernels of the rank access with slack; only kernels may access them.
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
      std::vector<AccessedRange> touches;
      accesses.of(op, touches);
      for (const AccessedRange& touch : touches) {
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
  const PlanWorld world(planner, input, variants_with_remaining(planner, input, steps));
  check_slack(world);
  NullMachine machine;
  interpret(world, machine);
  verify_overlapped(world);
  if (one_issue_order) {
    verify_one_order(world);
  }
}

void verify_one_order(const PlanWorld& world) {
  NullMachine machine;
  interpret(world, machine, SendMode::kWait);
}

}  // namespace paceline::plan
