// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/serving.h"

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

PlanInput input_of(Rank world) {
  PlanInput input;
  input.model = small_model();
  input.world = world;
  return input;
}

ServingOptions serving_of(Rank servers, bool colocated, const std::string& mebibytes = "1") {
  return {.servers = servers,
          .colocated = colocated,
          .partition = PartitionLimit("ps", Options({{"partition-mb", mebibytes}}))};
}

TEST(ServingOptions, TheLastRanksServeApart) {
  const ServerRoles roles = roles_of(serving_of(3, false), input_of(8));
  EXPECT_EQ(roles.workers, 5);
  EXPECT_EQ(roles.servers, 3);
  EXPECT_EQ(roles.first_server, 5);
  EXPECT_EQ(roles.copies(), 5);
  EXPECT_EQ(roles.pure_worker_symmetry().first, 0);
  EXPECT_EQ(roles.pure_worker_symmetry().count, 5);
}

TEST(ServingOptions, OnlyRanksWithoutPartitionsMayChangePlaces) {
  const ServerRoles roles = roles_of(serving_of(2, true), input_of(8));
  EXPECT_EQ(roles.workers, 8);
  EXPECT_EQ(roles.copies(), 7);  // its own is there
  EXPECT_EQ(roles.pure_worker_symmetry().first, 2);
  EXPECT_EQ(roles.pure_worker_symmetry().count, 6);
}

using Spans = std::vector<std::vector<Elements>>;

Spans numbers(const std::vector<Partition>& parts) {
  Spans all;
  for (const Partition& part : parts) {
    all.push_back({part.begin, part.count, part.owner, part.inbox});
  }
  return all;
}

// Two hosts of two ranks; tensors of 16 and 40 elements, padded to 32 and 64.
TEST(ServingOptions, HostsShareOutThePartitionsOfAServer) {
  PlanInput input = plan::input_of(toy_model({{40}, {16}}), 4);
  const Groups tensors{{ParameterId{1}}, {ParameterId{0}}};
  ServingOptions serving = serving_of(2, true, "0.00012207031");  // 32 elements
  serving.local = 2;
  SetupBuilder builder(input, tensors, serving.local);
  const std::vector<Bucket> buckets = buckets_of(builder.setup(), tensors);
  Program program(input, builder.setup(), {.buckets = buckets});

  EXPECT_EQ(numbers(all_partitions(serving, program)),
            (Spans{{0, 32, 0, 0}, {32, 32, 1, 0}, {64, 32, 0, 64}}));
  const Slice amid{buckets[0].values.buffer, 48, 32};
  const auto inside = partitions_of(serving, amid, program);
  EXPECT_EQ(numbers(inside), (Spans{{48, 16, 1, 32}, {64, 16, 0, 64}}));

  const ServerRoles roles = roles_of(serving, input);
  EXPECT_EQ(roles.copies(), 2);
  const std::vector<PartitionShard> pieces = pieces_of({64, 32, 0, 64}, roles);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(std::tie(pieces[0].begin, pieces[0].count, pieces[0].inbox), std::tuple(64, 16, 64));
  EXPECT_EQ(std::tie(pieces[1].begin, pieces[1].count, pieces[1].inbox), std::tuple(80, 16, 96));
  EXPECT_EQ(pieces[0].place, 0);
  EXPECT_EQ(pieces[1].place, 1);
}

// Of 160, 16, 96, 80 and 32 elements, in the layout the last first: 160 goes
// to the first server, 96 and 80 to the second, 32 to the first again, where 160 are fewer than
// 176, and 16 to the second, where 176 are fewer than 192.
TEST(ServingOptions, TheLargestPartitionGoesFirstToTheServerWithTheFewestBytes) {
  PlanInput input = plan::input_of(plan::toy_model({{160}, {16}, {96}, {80}, {32}}), 4);
  ServingOptions serving = serving_of(2, false);
  serving.assign = Assignment::kSize;
  Groups tensors;
  for (const ParameterId id : input.model.ready_order) {
    tensors.push_back({id});
  }
  SetupBuilder builder(input, tensors);
  Program program(input, builder.setup(), {.buckets = buckets_of(builder.setup(), tensors)});
  EXPECT_EQ(
      numbers(all_partitions(serving, program)),
      (Spans{
          {0, 32, 2, 0}, {32, 80, 3, 0}, {112, 96, 3, 160}, {208, 16, 3, 352}, {224, 160, 2, 64}}));
}

// One host sums and shares out alone.
TEST(ServingOptions, NothingCrossesOnOneHost) {
  ServingOptions serving = serving_of(2, true);
  serving.local = 4;
  const ServerRoles roles = roles_of(serving, input_of(4));
  EXPECT_FALSE(roles.needs_push());
  EXPECT_TRUE(pieces_of({0, 64, 0, 0}, roles).empty());
}

TEST(ServingOptions, ALateServerHoldsUpNoOther) {
  for (const char* text : {"wfbp+ps", "bytescheduler:credit-mb=1,partition-mb=1+ps"}) {
    const auto planner = make_planner(parse_strategy(text));
    const plan::Setup setup = planner->setup(input_of(4));
    const auto named = [&](const char* name) {
      return setup
          .communicators[static_cast<std::size_t>(index_of(communicator_named(setup, name)))];
    };
    const bool limited = named("push").credit_bytes < std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(limited, std::string(text).starts_with("bytescheduler"));
    EXPECT_EQ(named("push").order, IssueOrder::kProgram) << text;
    EXPECT_EQ(named("pull").order, IssueOrder::kAsReady) << text;
    EXPECT_EQ(named("pull").credit_bytes, std::numeric_limits<std::int64_t>::max()) << text;
  }
}

}  // namespace
}  // namespace paceline::strategies
