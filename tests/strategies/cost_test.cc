// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/cost.h"

#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/plan/describe.h"
#include "paceline/plan/program.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"
#include "strategies/cost_of.h"

namespace paceline::strategies {
namespace {

static_assert(wire_bytes(Pattern::kAllReduce, 400, 1) == 0);
static_assert(wire_bytes(Pattern::kAllReduce, 400, 2) == 400);
static_assert(wire_bytes(Pattern::kAllReduce, 400, 4) == 600);
static_assert(wire_bytes(Pattern::kAllReduce, 400, 3) == 533, "1600/3 down");
static_assert(wire_bytes(Pattern::kReduceScatter, 400, 4) == 300);
static_assert(wire_bytes(Pattern::kAllGather, 400, 4) == 300);
static_assert(wire_bytes(Pattern::kBroadcast, 400, 4) == 400);

class EveryWorld : public ::testing::TestWithParam<Rank> {};

// 512 parameters, no padding: S = 2048 bytes.
TEST_P(EveryWorld, AllReduceStrategiesSendTheClosedForm) {
  const Rank world = GetParam();
  const PlanInput input = input_of(toy_model({{256}, {128}, {128}}), world);
  const std::vector<std::pair<const char*, std::vector<std::int64_t>>> cases{
      {"bsp", {2048}},
      {"wfbp", {512, 512, 1024}},
      {"fusion:bucket-mb=0.0009", {1024, 1024}},
      {"ddp", {2048}}};
  for (const auto& [text, pieces] : cases) {
    const auto planner = make_planner(parse_strategy(text));
    const auto setup = planner->setup(input);
    const CommPlan plan = planner->plan(input, setup, 0);
    const Cost total = cost(setup, plan, 0);
    std::int64_t closed = 0;
    for (const std::int64_t piece : pieces) {
      closed += 2 * (world - 1) * piece / world;
    }
    EXPECT_EQ(total.wire_bytes, closed) << text;
    if (world > 1) {
      EXPECT_EQ(total.by_pattern.at("all-reduce").calls, std::ssize(pieces));
      EXPECT_EQ(largest_payload(*planner, input, setup), *std::ranges::max_element(pieces)) << text;
      EXPECT_EQ(rounds(input.model, setup, plan), 1) << text;
    }
  }
}

// Only the last of three steps communicates.
TEST(LargestPayload, IsThatOfAnyStep) {
  const PlanInput input = input_of(toy_model({{256}, {128}, {128}}), 2);
  const auto planner = make_planner(parse_strategy("wfbp+parameter-allreduce+local-sgd:every=3"));
  const auto setup = planner->setup(input);
  EXPECT_FALSE(communicates(planner->plan(input, setup, 0)));
  EXPECT_EQ(largest_payload(*planner, input, setup), 1024);
}

/// Bytes of a bucket with the padding that `shards` pieces ask for.
std::int64_t padded(std::int64_t bytes, Rank shards) {
  const std::int64_t bucket = 64 * shards;
  return (bytes + bucket - 1) / bucket * bucket;
}

std::int64_t sent(const Cost& cost, const char* pattern) {
  const auto found = cost.by_pattern.find(pattern);
  return found == cost.by_pattern.end() ? 0 : found->second.bytes;
}

// Two buckets of 1024 bytes each, in ready order {3, 2} and {1}.
constexpr const char* kTwoUnits = ":bucket-mb=0.0009";

ModelShape two_units() { return toy_model({{256}, {128}, {128}}); }

TEST_P(EveryWorld, ScatterAndGatherSendTheClosedForm) {
  const Rank world = GetParam();
  const PlanInput input = input_of(two_units(), world);
  const std::int64_t half = 2 * (world - 1) * padded(1024, world) / world;
  for (const char* text : {"dear", "fusion"}) {
    const Cost total = cost_of(std::string(text) + kTwoUnits + "+rs-ag", input);
    EXPECT_EQ(sent(total, "reduce-scatter"), half) << text;
    EXPECT_EQ(sent(total, "all-gather"), half) << text;
    EXPECT_EQ(total.wire_bytes, 2 * half) << text;
  }
}

// No rank keeps its own gradients from one micro-batch to the next.
TEST_P(EveryWorld, ZeroTwoScattersEveryMicroBatch) {
  const Rank world = GetParam();
  const std::string text = std::string("fusion") + kTwoUnits + "+rs-ag+zero-2";
  PlanInput input = input_of(two_units(), world);
  const Cost once = cost_of(text, input);
  input.micro_batches = 3;
  const Cost total = cost_of(text, input);
  const std::int64_t half = 2 * (world - 1) * padded(1024, world) / world;
  EXPECT_EQ(sent(total, "reduce-scatter"), 3 * half);
  EXPECT_EQ(sent(total, "all-gather"), half);
  EXPECT_EQ(total.memory_bytes, once.memory_bytes);
}

TEST_P(EveryWorld, MergedAndPartitionedReductionsSendTheClosedForm) {
  const Rank world = GetParam();
  const PlanInput input = input_of(two_units(), world);
  for (const char* text : {"mg-wfbp", "optimal-merge"}) {
    const Cost total = cost_of(text, input);
    EXPECT_LE(total.wire_bytes, 2 * (world - 1) * 2048 / world) << text;
    EXPECT_GT(total.wire_bytes, 2 * (world - 1) * 2048 / world - 3) << text;
  }
  // Partitions of 512 bytes: one, one and two.
  const Cost parts = cost_of("bytescheduler:partition-mb=0.0005", input);
  EXPECT_EQ(parts.wire_bytes, 4 * (2 * (world - 1) * 512 / world));
  EXPECT_EQ(parts.calls, world > 1 ? 4 : 0);
  // As many bytes in half precision: one each.
  const Cost coded = cost_of("bytescheduler:partition-mb=0.0005+fp16", input);
  EXPECT_EQ(coded.calls, world > 1 ? 3 : 0);
  const Cost half = cost_of(std::string("fusion") + kTwoUnits + "+fp16", input);
  EXPECT_EQ(half.wire_bytes, 2 * (2 * (world - 1) * 512 / world));
}

TEST_P(EveryWorld, HierarchicalSumsSendTheClosedForm) {
  const Rank world = GetParam();
  const PlanInput input = input_of(two_units(), world);
  for (Rank local = 1; local <= world; ++local) {
    if (world % local != 0) {
      continue;
    }
    const Rank hosts = world / local;
    const Cost total =
        cost_of(fmt::format("fusion{}+hierarchical:local={}", kTwoUnits, local), input);
    const std::int64_t bucket = padded(1024, local);
    EXPECT_EQ(sent(total, "reduce-scatter"), 2 * (local - 1) * bucket / local);
    EXPECT_EQ(sent(total, "all-gather"), 2 * (local - 1) * bucket / local);
    EXPECT_EQ(sent(total, "all-reduce"), 2 * (2 * (hosts - 1) * (bucket / local) / hosts));
  }
}

TEST_P(EveryWorld, ServersAndWorkersSendTheClosedForm) {
  const Rank world = GetParam();
  for (Rank rank = 0; rank < world; ++rank) {
    const PlanInput input = input_of(two_units(), world, rank);
    // Colocated, the two buckets dealt to ranks 0 and 1.
    const Cost both = cost_of(std::string("fusion") + kTwoUnits + "+ps", input);
    const std::int64_t own = world == 1 ? 2048 : (rank < 2 ? 1024 : 0);
    EXPECT_EQ(both.wire_bytes, (2048 - own) + (world - 1) * own);
    if (world == 1) {
      continue;
    }
    for (Rank local = 1; local <= world; ++local) {
      if (world % local != 0) {
        continue;
      }
      const Cost hosts = cost_of(fmt::format("fusion{}+ps:local={}", kTwoUnits, local), input);
      const std::int64_t bucket = padded(1024, local);
      EXPECT_EQ(sent(hosts, "reduce-scatter"), 2 * (local - 1) * bucket / local);
      EXPECT_EQ(sent(hosts, "all-gather"), 2 * (local - 1) * bucket / local);
      // Rank u serves bucket u: it answers every rank but itself with that one's share; the others
      // push their share of the bucket.  One host has its sum.
      std::int64_t messages = 0;
      const Rank servers = local == world ? 0 : 2;
      for (Rank server = 0; server < servers; ++server) {
        messages += (rank == server ? world - 1 : 1) * (bucket / local);
      }
      EXPECT_EQ(sent(hosts, "message"), messages) << local;
    }
    // The last rank serves alone.
    const Cost apart =
        cost_of(std::string("fusion") + kTwoUnits + "+ps:placement=apart,servers=1", input);
    EXPECT_EQ(apart.wire_bytes, rank + 1 < world ? 2048 : (world - 1) * 2048);
    EXPECT_EQ(apart.memory_bytes - cost_of("bsp", input).memory_bytes,
              rank + 1 < world ? 0 : (world - 1) * 2048);
  }
}

/// What a worker pushes to each server in a step, in bytes.
std::map<Rank, std::int64_t> pushed(const std::string& text, const PlanInput& input) {
  const auto planner = make_planner(parse_strategy(text));
  const auto setup = planner->setup(input);
  const CommPlan plan = planner->plan(input, setup, 0);
  std::map<Rank, std::int64_t> bytes;
  for (const Op& op : plan.ops) {
    if (const auto* exchange = std::get_if<Exchange>(&op.work)) {
      for (const Message& message : exchange->sends) {
        bytes[message.peer] += message.slice.count * size_of(DType::kF32);
      }
    }
  }
  return bytes;
}

// Tensors of 640, 64, 384, 320 and 128 bytes, in ready order the last first; bsp's one bucket is
// cut into 3 partitions of 512 bytes, and bytescheduler's tensors into ones of 320 at most.
TEST_P(EveryWorld, ServersHoldWhatTheirAssignmentSays) {
  const Rank world = GetParam();
  if (world < 3) {
    return;  // two servers and a worker
  }
  struct Assignment {
    const char* schedule;
    const char* options;
    std::int64_t first;  // bytes of the first of the two servers
  };
  const std::vector<Assignment> cases{{"bsp", "partition-mb=0.00048828125", 1024},
                                      {"bsp", "partition-mb=0.00048828125,assign=size", 1024},
                                      {"wfbp", "assign=round-robin", 128 + 384 + 640},
                                      {"wfbp", "assign=size", 640 + 128},
                                      {"wfbp", "assign=size,partition-mb=0.000305175781250", 768},
                                      {"bytescheduler:order=priority,partition-mb=0.00030517578125",
                                       "assign=size,partition-mb=0.00030517578125", 768}};
  for (const auto& [schedule, options, first] : cases) {
    const std::string text = fmt::format("{}+ps:placement=apart,servers=2,{}", schedule, options);
    PlanInput input = input_of(toy_model({{160}, {16}, {96}, {80}, {32}}), world);
    const Rank workers = world - 2;
    const std::map<Rank, std::int64_t> bytes{{workers, first}, {workers + 1, 1536 - first}};
    EXPECT_EQ(pushed(text, input), bytes) << text;
    for (input.rank = workers; input.rank < world; ++input.rank) {
      EXPECT_EQ(cost_of(text, input).wire_bytes, workers * bytes.at(input.rank)) << text;
    }
  }
}

TEST_P(EveryWorld, NeighborsSendTheClosedForm) {
  const Rank world = GetParam();
  const PlanInput input = input_of(two_units(), world);
  const auto degree = [](const char* graph, Rank nodes) -> Rank {
    if (nodes == 1) {
      return 0;
    }
    if (std::string_view(graph) == "one-peer-exp") {
      return 1;
    }
    if (std::string_view(graph) == "ring") {
      return nodes == 2 ? 1 : 2;
    }
    Rank powers = 0;
    for (Rank power = 1; power < nodes; power *= 2) {
      ++powers;
    }
    return powers;
  };
  for (const char* graph : {"one-peer-exp", "ring", "exp"}) {
    const Cost flat = cost_of(fmt::format("bsp+neighbor-allreduce:topology={}", graph), input);
    EXPECT_EQ(flat.wire_bytes, degree(graph, world) * 2048) << graph;
    EXPECT_EQ(flat.memory_bytes - cost_of("bsp", input).memory_bytes, degree(graph, world) * 2048);
    for (Rank local = 1; local <= world; ++local) {
      if (world % local != 0) {
        continue;
      }
      const Rank hosts = world / local;
      const auto text = [&](const char* style) {
        return fmt::format("fusion{}+hierarchical-neighbor-allreduce:topology={},local={},style={}",
                           kTwoUnits, graph, local, style);
      };
      const std::int64_t bucket = padded(1024, local);
      const Cost shards = cost_of(text("shards"), input);
      EXPECT_EQ(sent(shards, "reduce-scatter"), 2 * (local - 1) * bucket / local);
      EXPECT_EQ(sent(shards, "all-gather"), 2 * (local - 1) * bucket / local);
      EXPECT_EQ(sent(shards, "message"), 2 * degree(graph, hosts) * bucket / local);
      const Cost leader = cost_of(text("leader"), input);
      EXPECT_EQ(sent(leader, "all-reduce"), 2 * (2 * (local - 1) * 1024 / local));
      EXPECT_EQ(sent(leader, "message"), degree(graph, hosts) * 2048);
      EXPECT_EQ(sent(leader, "broadcast"), local == 1 ? 0 : degree(graph, hosts) * 2048);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryWorld, ::testing::Range(1, 17));

TEST(Rounds, AreThoseThatTheRowsClaim) {
  const PlanInput input = input_of(two_units(), 4);
  const auto rounds_of = [&](const char* text) {
    const auto planner = make_planner(parse_strategy(text));
    const auto setup = planner->setup(input);
    return rounds(input.model, setup, planner->plan(input, setup, 0));
  };
  EXPECT_EQ(rounds_of("dear"), 2);
  EXPECT_EQ(rounds_of("bytescheduler"), 1);
  EXPECT_EQ(rounds_of("optimal-merge"), 1);
  EXPECT_EQ(rounds_of("bsp+hierarchical:local=2"), 3);
  EXPECT_EQ(rounds_of("wfbp+ps"), 2);
  EXPECT_EQ(rounds_of("fusion+neighbor-allreduce:topology=ring"), 1);
  EXPECT_EQ(rounds_of("fusion+hierarchical-neighbor-allreduce:local=2"), 3);
  EXPECT_EQ(rounds_of("bsp+hierarchical-neighbor-allreduce:local=2,"
                      "style=leader"),
            3);
}

TEST(Cost, MemoryIsWhatLiesBesideValuesAndGradients) {
  const PlanInput input = input_of(toy_model({{256}, {256}}), 2);
  const auto memory = [&](const char* text) {
    const auto planner = make_planner(parse_strategy(text));
    const auto setup = planner->setup(input);
    return cost(setup, planner->plan(input, setup, 0), 0).memory_bytes;
  };
  EXPECT_EQ(memory("bsp"), 2048 + 8) << "momentum, learning rate";
  EXPECT_EQ(memory("ddp"), 2048 + 8 + 2048) << "and the Reducer's buckets";
}

TEST(Cost, MessagesCountAtTheSender) {
  const PlanInput input = input_of(toy_model({{256}}), 2);
  SetupBuilder builder(input, {input.model.ready_order});
  const CommunicatorId on = builder.add_world_communicator("pair");
  const BufferId ragged = builder.add_buffer({.name = "ragged", .elements = 100, .typical = 10});
  const auto setup = std::move(builder).finish();
  Program program(input, setup);
  const Slice values = whole(setup, BufferId{0});
  program.exchange(on, {{1, values}, {1, whole(setup, ragged)}}, {});
  program.exchange(on, {}, {{1, values}});
  const CommPlan plan = std::move(program).finish();
  EXPECT_EQ(cost(setup, plan, 0).by_pattern.at("message"), (Traffic{1024 + 40, 2}));
  EXPECT_EQ(rounds(input.model, setup, plan), 2) << "write after read";
}

TEST(Describe, NamesSizesAndTensors) {
  const PlanInput input = input_of(small_model(), 8);
  const auto planner = make_planner(parse_strategy("fusion:bucket-mb=0.0001"));
  const auto setup = planner->setup(input);
  const CommPlan plan = planner->plan(input, setup, 0);
  const auto text = [&](std::size_t op) { return describe(plan.ops[op], input.model, setup); };
  EXPECT_EQ(text(1), "forward, layer1");
  EXPECT_EQ(text(4), "backward, layer3.p0");
  EXPECT_EQ(text(11), "all-reduce, 192 bytes, gradients layer3.p0 .. layer2.p2, on grad, 8 ranks");
  EXPECT_EQ(text(12),
            "update, 576 bytes, values layer3.p0 .. layer2.p2 and 2 "
            "more");
  EXPECT_EQ(describe(setup.parameters[0].value, input.model, setup), "values layer0.p0");
  EXPECT_EQ(describe({buffer_named(setup, "momentum"), 0, 5}, input.model, setup),
            "momentum layer3.p0[0..5)");
  EXPECT_EQ(describe(plan, input.model, setup).substr(0, 108),
            "   0  forward, layer0 .. layer3 (4 ops)\n"
            "   4  backward, layer3.p0 .. layer0.p0 (7 ops)\n"
            "  11  all-reduce, 192");
}

TEST(Describe, BytesInPowersOfAThousand) {
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1000), "1.0 kB");
  EXPECT_EQ(bytes_text(999'949), "999.9 kB");
  EXPECT_EQ(bytes_text(999'999), "1.0 MB");
  EXPECT_EQ(bytes_text(9'437'184), "9.4 MB");
}

}  // namespace
}  // namespace paceline::strategies
