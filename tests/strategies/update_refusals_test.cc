// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

std::string refusal_of(const std::string& text, bool loss_scaling = false) {
  try {
    const auto planner = make_planner(parse_strategy(text));
    PlanInput input = input_of(tiny_model(), 4);
    input.loss_scaling = loss_scaling;
    planner->plan(input, planner->setup(input), 0);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(UpdateRules, AreRefusedWithTheRuleThatForbidsThem) {
  const auto refused = [](const std::string& text, const std::string& why,
                          bool loss_scaling = false) {
    const std::string message = refusal_of(text, loss_scaling);
    EXPECT_NE(message.find(why), std::string::npos) << text << ": '" << message << "'";
  };
  refused("all-reduce+pga", "averages over all ranks in some steps only");
  refused("all-reduce+awc", "take neighbor-allreduce");
  refused("all-reduce+zero-1", "take rs-ag or hierarchical");
  refused("neighbor-allreduce+diloco", "anchors stay equal");
  refused("neighbor-allreduce+slowmo", "anchors stay equal");
  refused("rs-ag+gradient-tracking", "take neighbor-allreduce");
  refused("rs-ag+fp16+zero-1", "sends the parameters themselves");
  refused("all-reduce+sign+local-sgd", "sends the parameters themselves");
  refused("parameter-allreduce+sign", " and a codec of bf16, ef-sign, ");
  refused("neighbor-allreduce+exact-diffusion", "repeat after 2 steps");
  refused("neighbor-allreduce:topology=exp+exact-diffusion",
          "row 0, column 3 of the mixing matrix is 0.333333, and row 3, column 0 is 0;");
  refused("push-sum+awc", "does not do so; take atc");
  refused("push-sum+pga", "does not do so; take atc");
  refused("win-put+gradient-tracking", "which may be late");
  refused("win-put:slots=17", "at most 16");
  refused("win-put:slots=0", "above 0 is wanted");
  refused("local-sgd:every=0", "from 1 to 500");
  refused("diloco:every=501", "from 1 to 500");
  refused("diloco:every=4,delay=4", "every / fragments - 1 = 3");
  refused("diloco:every=4,fragments=2,delay=2", "every / fragments - 1 = 1");
  refused("diloco:mix=0.5", "0 where delay=0");
  refused("diloco:fragments=7", "from 1 to 6");
  refused("bsp+diloco:fragments=2", "one bucket");
  refused("diloco:outer-lr=-1", "a number from 0 to 1000");
  refused("diloco:outer-momentum=1", "a number of at least 0 and below 1");
  refused("slowmo:slow-momentum=-0.1", "a number of at least 0 and below 1");
  for (const char* rule : {"local-sgd", "diloco", "slowmo"}) {
    refused(rule, "the loss cannot be scaled", true);
  }
  for (const char* rule : {"pga", "gradient-tracking"}) {
    refused(std::string("neighbor-allreduce+") + rule, "the loss cannot be scaled", true);
  }
  refused("rs-ag+zero-1", "the loss cannot be scaled", true);
  refused("rs-ag+zero-2", "the loss cannot be scaled", true);
}

TEST(UpdateRules, NameTheExchangesThatTheyGoWith) {
  const std::string three =
      "take neighbor-allreduce or hierarchical-neighbor-allreduce or parameter-allreduce";
  EXPECT_TRUE(refusal_of("all-reduce+gradient-tracking").ends_with(three));
  EXPECT_TRUE(refusal_of("all-reduce+awc").ends_with(three + " or win-put"));
}

}  // namespace
}  // namespace paceline::strategies
