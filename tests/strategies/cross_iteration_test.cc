// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "paceline/plan/access.h"
#include "paceline/plan/interpreter.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"

// Schedules whose communication goes on into the next step.

namespace paceline::strategies {
namespace {

constexpr Step kIterations = 5;

// A module's next forward waits for its own tensors and no others.
TEST(CrossIteration, GatesOpenModuleByModule) {
  for (const char* text : {"bytescheduler", "dear:bucket-mb=0", "bytescheduler:order=priority",
                           "bytescheduler:queue=module"}) {
    const auto planner = make_planner(parse_strategy(text));
    const PlanWorld plans(*planner, input_of(tiny_model(), 2), 2);
    const PlanInput& input = plans.input(0);
    const auto order = plans.order(0);
    int gates = 0;
    for (std::size_t i = 0; i < plans.items(0).size(); ++i) {
      const PlanWorld::Item& item = plans.items(0)[i];
      const auto* forward = std::get_if<Forward>(&item.op->work);
      if (item.step == 0 || forward == nullptr) {
        continue;
      }
      std::set<ModuleId> updated;
      for (const std::size_t earlier : order.waits_for[i]) {
        const Op& op = *plans.items(0)[earlier].op;
        const auto* kernel = std::get_if<Kernel>(&op.work);
        ASSERT_TRUE(kernel != nullptr && kernel->name == "update") << text;
        for (std::size_t p = 0; p < input.model.parameters.size(); ++p) {
          if (overlap(kernel->writes[0].slice, plans.setup(0).parameters[p].value)) {
            updated.insert(input.model.parameters[p].module);
          }
        }
      }
      EXPECT_EQ(updated, std::set<ModuleId>{forward->module}) << text;
      ++gates;
    }
    EXPECT_EQ(gates, 3);
  }
}

// With dear the second half comes in the order of the next forward.
TEST(CrossIteration, DearGathersInForwardOrder) {
  const auto planner = make_planner(parse_strategy("dear:bucket-mb=0"));
  const PlanInput input = input_of(tiny_model(), 2);
  const auto plan = planner->plan(input, planner->setup(input), 0);
  std::vector<Elements> begins;
  for (const Op& op : plan.ops) {
    const auto* collective = std::get_if<Collective>(&op.work);
    if (collective != nullptr && collective->pattern == Pattern::kAllGather) {
      begins.push_back(collective->out.begin);
    }
  }
  ASSERT_EQ(begins.size(), 5u);
  // Values lie in ready order, so the module read first lies last; of the two tensors of a module
  // the one that is ready first comes first.
  EXPECT_EQ(begins, (std::vector<Elements>{96, 128, 64, 0, 32}));
}

// The queue's virtual time: the first layers, ready last, overtake.
TEST(ByteScheduler, WritesPartitionsInTheQueuesOrder) {
  PlanInput input = input_of(toy_model({{16}, {64}, {16}}), 2);
  input.profile = LayerProfile{"test", {1, 1, 1}, {10, 10, 10}};
  const auto order = [&](Picoseconds alpha) {
    input.alpha_beta->all_reduce = {{{0, alpha, 0}}};
    const auto planner =
        make_planner(parse_strategy("bytescheduler:partition-mb=0.0001,credit-mb=0"));
    const auto plan = planner->plan(input, planner->setup(input), 0);
    std::vector<Elements> begins;
    for (const Op& op : plan.ops) {
      if (const auto* reduce = std::get_if<Collective>(&op.work)) {
        begins.push_back(reduce->in.begin);
      }
    }
    return begins;
  };
  // layer2 lies at 0, layer1 at 16 in pieces of 16, layer0 at 80.
  EXPECT_EQ(order(1), (std::vector<Elements>{0, 16, 32, 48, 64, 80}));
  EXPECT_EQ(order(7), (std::vector<Elements>{0, 16, 32, 80, 48, 64}))
      << "layer1 from 20 on, layer0 is ready at 30 while its second piece goes";
}

/// Runs all but one update of the last step.
class Forgetful final : public Planner {
 public:
  explicit Forgetful(std::unique_ptr<Planner> whole) : whole_(std::move(whole)) {}
  Setup setup(const PlanInput& input) const override { return whole_->setup(input); }
  Variant variant(const PlanInput&, Step step) const override {
    return step == kIterations - 1 ? 1 : 0;
  }
  CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const override {
    CommPlan plan = whole_->plan(input, setup, 0);
    if (variant == 1) {
      const auto last = std::ranges::find_if(plan.ops.rbegin(), plan.ops.rend(), [](const Op& op) {
        const auto* kernel = std::get_if<Kernel>(&op.work);
        return kernel != nullptr && kernel->name == "update";
      });
      plan.ops.erase(std::prev(last.base()));
    }
    return plan;
  }

 private:
  std::unique_ptr<Planner> whole_;
};

// The comparison with training by hand must see a lost last update.
TEST(CrossIteration, ALostLastUpdateIsSeen) {
  for (const char* text : {"dear:bucket-mb=0", "bytescheduler"}) {
    const auto end_of = [&](const Planner& planner) {
      const PlanWorld plans(planner, input_of(tiny_model(), 2), kIterations);
      ToyMachine machine(plans);
      interpret(plans, machine);
      return values_in(machine.memory, plans);
    };
    const World whole = end_of(*make_planner(parse_strategy(text)));
    const World bulk = end_of(*make_planner(parse_strategy("bsp")));
    const World lost = end_of(Forgetful(make_planner(parse_strategy(text))));
    EXPECT_EQ(whole, bulk) << text;
    EXPECT_NE(lost, bulk) << text;
  }
}

}  // namespace
}  // namespace paceline::strategies
