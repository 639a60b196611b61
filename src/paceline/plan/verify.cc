// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/verify.h"

#include <algorithm>
#include <vector>

#include "paceline/plan/interpreter.h"

namespace paceline::plan {
namespace {

/// Moves nothing: the interpreter is run for its order alone.
class NullMachine final : public Machine {
 public:
  void forward(Rank, Step, const Forward&) override {}
  void backward(Rank, Step, const Backward&) override {}
  void kernel(Rank, Step, const Kernel&) override {}
  void collective(const Communicator&,
                  const std::vector<const Collective*>&) override {}
  void send(Rank, const Slice&, std::size_t) override {}
  void receive(Rank, const Slice&, std::size_t) override {}
};

/// The planner's steps, in other words: the first `steps`, then one of each
/// variant that these did not run.
class EachVariant final : public Planner {
 public:
  EachVariant(const Planner& planner, const PlanInput& input, Step steps)
      : planner_(planner) {
    for (Step step = 0; step < steps; ++step) {
      variants_.push_back(planner.variant(input, step));
    }
    for (const Variant variant : variants_of(planner, input)) {
      if (std::ranges::find(variants_, variant) == variants_.end()) {
        variants_.push_back(variant);
      }
    }
  }

  Step steps() const { return static_cast<Step>(variants_.size()); }

  Setup setup(const PlanInput& input) const override {
    return planner_.setup(input);
  }
  Variant variant(const PlanInput&, Step step) const override {
    return variants_[static_cast<std::size_t>(step)];
  }
  CommPlan plan(const PlanInput& input,
                const Setup& setup,
                Variant variant) const override {
    return planner_.plan(input, setup, variant);
  }
  Rank training_ranks(const PlanInput& input) const override {
    return planner_.training_ranks(input);
  }
  Symmetry symmetry(const PlanInput& input) const override {
    return planner_.symmetry(input);
  }

 private:
  const Planner& planner_;
  std::vector<Variant> variants_;  // by step
};

}  // namespace

void verify(const Planner& planner, const PlanInput& input, Step steps) {
  const EachVariant each(planner, input, steps);
  const PlanWorld world(each, input, each.steps());
  NullMachine machine;
  interpret(world, machine);
  verify_overlapped(world);
}

}  // namespace paceline::plan
