// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/agreement.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::rank {
namespace {

using Change = std::function<void(plan::Setup&, plan::CommPlan&)>;

/// The plans of a strategy, each with a change.
class Changed final : public plan::Planner {
 public:
  Changed(const std::string& strategy, Change change)
      : planner_(strategies::make_planner(strategies::parse_strategy(strategy))),
        change_(std::move(change)) {}

  plan::Setup setup(const plan::PlanInput& input) const override {
    plan::Setup setup = planner_->setup(input);
    plan::CommPlan none;
    change_(setup, none);
    return setup;
  }
  plan::Variant variant(const plan::PlanInput& input, plan::Step step) const override {
    return planner_->variant(input, step);
  }
  plan::Step period(const plan::PlanInput& input) const override { return planner_->period(input); }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override {
    plan::CommPlan plan = planner_->plan(input, setup, variant);
    plan::Setup unused = setup;
    change_(unused, plan);
    return plan;
  }

 private:
  std::unique_ptr<plan::Planner> planner_;
  Change change_;
};

std::int64_t digest_for(
    const std::string& strategy, const Change& change = [](auto&, auto&) {}) {
  const Changed planner(strategy, change);
  plan::PlanInput input = plan::input_of(plan::small_model(), 2);
  return plan_digests(planner, input).front();
}

TEST(PlanDigest, DiffersWherePlansDifferLongAfterTheFirstSteps) {
  const std::string rule = "fusion+parameter-allreduce+local-sgd:every=";
  const auto every = [&](const std::string& steps) { return digest_for(rule + steps); };
  EXPECT_EQ(every("100"), every("100"));
  EXPECT_NE(every("100"), every("200"));
}

TEST(PlanDigest, DiffersWhereACollectiveBeginsElsewhere) {
  int changed = 0;
  const auto shifted = digest_for("wfbp", [&](auto&, plan::CommPlan& plan) {
    for (plan::Op& op : plan.ops) {
      if (auto* c = std::get_if<plan::Collective>(&op.work)) {
        ++c->in.begin;
        ++c->out.begin;
        ++changed;
      }
    }
  });
  EXPECT_GT(changed, 0);
  EXPECT_NE(shifted, digest_for("wfbp"));
}

TEST(PlanDigest, DiffersWhereParametersLieInAnotherOrder) {
  const auto swapped = digest_for("fusion", [](plan::Setup& setup, auto&) {
    std::swap(setup.parameters[0], setup.parameters[1]);
  });
  EXPECT_NE(swapped, digest_for("fusion"));
}

TEST(PlanDigest, DiffersWhereAMessageHasAnotherSize) {
  const std::string strategy = "wfbp+neighbor-allreduce:topology=ring";
  int changed = 0;
  const auto shorter = digest_for(strategy, [&](auto&, plan::CommPlan& plan) {
    for (plan::Op& op : plan.ops) {
      if (auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
        for (plan::Message& message : exchange->sends) {
          --message.slice.count;
          ++changed;
        }
      }
    }
  });
  EXPECT_GT(changed, 0);
  EXPECT_NE(shorter, digest_for(strategy));
}

}  // namespace
}  // namespace paceline::rank
