// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/byteps.h"

#include <gtest/gtest.h>

#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/program.h"
#include "paceline/plan/verify.h"

namespace paceline::validate {
namespace {

plan::PlanInput input_for(int hosts, int servers) {
  plan::PlanInput input;
  input.model = plan::bert_shape("tiny",
                                 {.layers = 1,
                                  .hidden = 32,
                                  .intermediate = 64,
                                  .heads = 2,
                                  .vocabulary = 96,
                                  .positions = 16})
                    .model;
  input.optimizer = {.name = "sgd", .state_buffers = 0};
  input.world = 4 * hosts + servers;
  input.local_world.assign(static_cast<std::size_t>(hosts), 4);
  input.local_world.resize(static_cast<std::size_t>(hosts + servers), 1);
  return input;
}

TEST(BytePs, PlansMatchAcrossWorkersAndServers) {
  for (const bool fused : {false, true}) {
    for (const int hosts : {1, 2, 4}) {
      SCOPED_TRACE(hosts);
      const auto planner =
          make_byteps({.fused = fused, .partition_bytes = 1024});
      EXPECT_NO_THROW(
          plan::verify(*planner, input_for(hosts, hosts > 1 ? hosts : 0)));
    }
  }
}

TEST(BytePs, EveryByteGoesUpAndDownOnce) {
  const auto planner = make_byteps({.partition_bytes = 1024});
  plan::PlanInput input = input_for(2, 2);
  const plan::Setup setup = planner->setup(input);
  const plan::CommPlan plan = planner->plan(input, setup, 0);
  plan::Elements up = 0, down = 0;
  for (const plan::Op& op : plan.ops) {
    if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
      for (const plan::Message& message : exchange->sends) {
        up += message.slice.count;
      }
      for (const plan::Message& message : exchange->receives) {
        down += message.slice.count;
      }
    }
  }
  const plan::Elements all =
      plan::whole(setup, plan::buffer_named(setup, plan::kGradients)).count;
  EXPECT_EQ(up, all / 4);  // a device's share
  EXPECT_EQ(down, up);
}

}  // namespace
}  // namespace paceline::validate
