// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/optimizer.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

std::string rejection_of(const std::string& text, const PlanInput& input) {
  try {
    const auto planner = make_planner(parse_strategy(text));
    planner->plan(input, planner->setup(input), 0);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string rejection_of(const std::string& text, bool loss_scaling = false) {
  PlanInput input = input_of(tiny_model(), 4);
  input.loss_scaling = loss_scaling;
  return rejection_of(text, input);
}

TEST(UpdateRules, AreRejectedWithTheRuleThatForbidsThem) {
  const auto rejected = [](const std::string& text, const std::string& why,
                           bool loss_scaling = false) {
    const std::string message = rejection_of(text, loss_scaling);
    EXPECT_NE(message.find(why), std::string::npos) << text << ": '" << message << "'";
  };
  rejected("all-reduce+pga", "averages over all ranks in some steps only");
  rejected("all-reduce+awc", "take neighbor-allreduce");
  rejected("all-reduce+zero-1", "take rs-ag or hierarchical");
  rejected("neighbor-allreduce+diloco", "anchors stay equal");
  rejected("neighbor-allreduce+slowmo", "anchors stay equal");
  rejected("rs-ag+gradient-tracking", "take neighbor-allreduce");
  rejected("rs-ag+fp16+zero-1", "sends the parameters themselves");
  rejected("all-reduce+sign+local-sgd", "sends the parameters themselves");
  rejected("parameter-allreduce+sign", " and a codec of bf16, ef-sign, ");
  rejected("neighbor-allreduce+exact-diffusion", "repeat after 2 steps");
  rejected("neighbor-allreduce:topology=exp+exact-diffusion",
           "row 0, column 3 of the mixing matrix is 0.333333, and row 3, column 0 is 0;");
  rejected("push-sum+awc", "does not do so; take atc");
  rejected("push-sum+pga", "does not do so; take atc");
  rejected("win-put+gradient-tracking", "which may be late");
  rejected("win-put:slots=17", "at most 16");
  rejected("win-put:slots=0", "above 0 is wanted");
  rejected("local-sgd:every=0", "from 1 to 500");
  rejected("diloco:every=501", "from 1 to 500");
  rejected("diloco:every=4,delay=4", "every / fragments - 1 = 3");
  rejected("diloco:every=4,fragments=2,delay=2", "every / fragments - 1 = 1");
  rejected("diloco:mix=0.5", "0 where delay=0");
  rejected("diloco:fragments=7", "from 1 to 6");
  rejected("bsp+diloco:fragments=2", "one bucket");
  rejected("diloco:outer-lr=-1", "a number from 0 to 1000");
  rejected("diloco:outer-momentum=1", "a number of at least 0 and below 1");
  rejected("slowmo:slow-momentum=-0.1", "a number of at least 0 and below 1");
  for (const char* rule : {"local-sgd", "diloco", "slowmo"}) {
    rejected(rule, "the loss cannot be scaled", true);
  }
  for (const char* rule : {"pga", "gradient-tracking"}) {
    rejected(std::string("neighbor-allreduce+") + rule, "the loss cannot be scaled", true);
  }
  rejected("rs-ag+zero-1", "the loss cannot be scaled", true);
  rejected("rs-ag+zero-2", "the loss cannot be scaled", true);
}

// Two matrices that no bucket's shards leave whole, and a bias.
PlanInput layerwise_input(std::string_view optimizer, Rank world) {
  ModelShape model = toy_model({{64, 2}, {100}});
  model.parameters[0].sizes = {8, 8};
  model.parameters[2].sizes = {10, 10};
  PlanInput input = input_of(std::move(model), world);
  input.optimizer = shape_of(optimizer);
  return input;
}

TEST(UpdateRules, GiveLayerwiseOptimizersWholeMatrices) {
  for (const std::string optimizer : {"lamb", "lars"}) {
    const PlanInput input = layerwise_input(optimizer, 4);
    EXPECT_EQ(
        rejection_of("fusion:bucket-mb=25+rs-ag+zero-1", input),
        "optimizer '" + optimizer +
            "' scales the step of 'layer1.p0' by norms over all of its elements, and strategy "
            "'fusion:bucket-mb=25+rs-ag+zero-1' updates a part of them by itself; take another "
            "optimizer, or a strategy that updates whole tensors, such as fusion or ddp");
    for (const char* text : {"wfbp+rs-ag+zero-2", "fusion+hierarchical:local=2+zero-1",
                             "bytescheduler:partition-mb=0.0001+rs-ag+zero-1",
                             "bytescheduler:partition-mb=0.0001+neighbor-allreduce+atc"}) {
      EXPECT_TRUE(rejection_of(text, input).starts_with("optimizer '" + optimizer + "' scales"))
          << text;
    }
    for (const char* text :
         {"ddp", "none", "bsp", "dear+rs-ag", "fusion+hierarchical:local=2", "wfbp+ps",
          "bytescheduler:partition-mb=0.0001", "fusion+neighbor-allreduce+atc",
          "bytescheduler:partition-mb=0.0001+neighbor-allreduce+awc"}) {
      EXPECT_EQ(rejection_of(text, input), "") << text;
    }
    EXPECT_EQ(rejection_of("fusion+rs-ag+zero-1", layerwise_input(optimizer, 1)), "");
  }
  EXPECT_EQ(rejection_of("fusion+rs-ag+zero-1", layerwise_input("adamw", 4)), "");
}

TEST(UpdateRules, LetABiasOfALayerwiseOptimizerBeCut) {
  PlanInput input = layerwise_input("lamb", 4);
  for (ParameterShape& parameter : input.model.parameters) {
    parameter.sizes = {parameter.elements};
  }
  EXPECT_EQ(rejection_of("fusion+rs-ag+zero-1", input), "");
}

TEST(UpdateRules, NameTheExchangesThatTheyGoWith) {
  const std::string three =
      "take neighbor-allreduce or hierarchical-neighbor-allreduce or parameter-allreduce";
  EXPECT_TRUE(rejection_of("all-reduce+gradient-tracking").ends_with(three));
  EXPECT_TRUE(rejection_of("all-reduce+awc").ends_with(three + " or win-put"));
}

}  // namespace
}  // namespace paceline::strategies
