// SPDX-License-Identifier: Apache-2.0
#include "plan/hand_plans.h"

#include <numeric>

namespace paceline::plan {
namespace {

/// Buckets of at most two tensors, in ready order.
Groups pairs(const ModelShape& model) {
  Groups groups;
  for (const ParameterId id : model.ready_order) {
    if (groups.empty() || groups.back().size() == 2) {
      groups.emplace_back();
    }
    groups.back().push_back(id);
  }
  return groups;
}

std::vector<Bucket> buckets(const Program& program) {
  return buckets_of(program.setup(), pairs(program.input().model));
}

/// The same range of another buffer.
Slice in(const Program& program, std::string_view buffer, const Slice& slice) {
  return {buffer_named(program.setup(), buffer), slice.begin, slice.count};
}

CommunicatorId on(const Program& program, std::string_view name) {
  return communicator_named(program.setup(), name);
}

Slice shard(const Slice& slice, Rank index, Rank shards) {
  const Elements count = slice.count / shards;
  return {slice.buffer, slice.begin + index * count, count};
}

Rank next(const Program& program, Rank by = 1) {
  const Rank world = program.input().world;
  return (program.input().rank + by + world) % world;
}

/// A builder with the world's communicator and twins of the values.
Setup frame_with(const PlanInput& input, const std::vector<std::string>& twins, Rank shards = 1) {
  SetupBuilder builder(input, pairs(input.model), shards);
  builder.add_world_communicator("all");
  const Setup so_far = SetupBuilder(input, pairs(input.model), shards).finish();
  const Slice values = whole(so_far, buffer_named(so_far, kValues));
  for (const std::string& name : twins) {
    builder.add_buffer({.name = name, .elements = values.count, .layout_source = values});
  }
  return std::move(builder).finish();
}

/// Reduce-scatter in backward, all-gather beside the next forward.
HandPlanner dear() {
  return {[](const PlanInput& input) { return frame_with(input, {}, input.world); },
          [](Program& program, Variant) {
            const Rank rank = program.input().rank;
            const Rank world = program.input().world;
            program.compute();
            const auto all = buckets(program);
            for (const Bucket& bucket : all) {
              program.reduce_scatter(bucket.gradients, shard(bucket.gradients, rank, world),
                                     on(program, "all"));
            }
            for (auto bucket = all.rbegin(); bucket != all.rend(); ++bucket) {
              program.all_gather(shard(bucket->gradients, rank, world), bucket->gradients,
                                 on(program, "all"));
              program.update(*bucket, world);
            }
          }};
}

/// Optimizer state and update sharded over the ranks; the values are gathered.
HandPlanner sharded_update() {
  return {[](const PlanInput& input) { return frame_with(input, {}, input.world); },
          [](Program& program, Variant) {
            const Rank rank = program.input().rank;
            const Rank world = program.input().world;
            program.compute();
            for (Bucket bucket : buckets(program)) {
              const Slice values = bucket.values;
              program.all_reduce(bucket.gradients, on(program, "all"));
              bucket.values = shard(bucket.values, rank, world);
              bucket.gradients = shard(bucket.gradients, rank, world);
              program.update(bucket, world);
              program.all_gather(bucket.values, values, on(program, "all"));
            }
          }};
}

/// The last rank only serves: it sums what workers push and sends it back.
HandPlanner parameter_server() {
  const auto write = [](Program& program, Variant) {
    const Rank server = program.input().world - 1;
    const auto all = buckets(program);
    if (program.input().rank != server) {
      program.compute();
      for (const Bucket& bucket : all) {
        program.exchange(on(program, "all"), {{server, bucket.gradients}}, {});
      }
      for (const Bucket& bucket : all) {
        program.exchange(on(program, "all"), {}, {{server, bucket.gradients}});
        program.update(bucket, server);
      }
      return;
    }
    for (const Bucket& bucket : all) {
      std::vector<Message> messages, answers;
      std::vector<Access> reads;
      const Slice sum = in(program, "sum", bucket.values);
      for (Rank worker = 0; worker < server; ++worker) {
        messages.push_back({worker, in(program, "in" + std::to_string(worker), bucket.values)});
        reads.push_back({messages.back().slice});
        answers.push_back({worker, sum});
      }
      program.exchange(on(program, "all"), {}, messages);
      program.kernel("linear", reads, {{sum}}, std::vector<double>(reads.size(), 1.0));
      program.exchange(on(program, "all"), answers, {});
    }
  };
  return {[](const PlanInput& input) {
            std::vector<std::string> twins;
            if (input.rank == input.world - 1) {
              twins.push_back("sum");
              for (Rank worker = 0; worker + 1 < input.world; ++worker) {
                twins.push_back("in" + std::to_string(worker));
              }
            }
            return frame_with(input, twins);
          },
          write};
}

void mix_with_ring(Program& program, const Bucket& bucket) {
  const Slice left = in(program, "left", bucket.values);
  const Slice right = in(program, "right", bucket.values);
  program.exchange(on(program, "all"),
                   {{next(program), bucket.values}, {next(program, -1), bucket.values}},
                   {{next(program, -1), left}, {next(program), right}});
}

void average_ring(Program& program, const Bucket& bucket) {
  program.kernel("linear",
                 {{bucket.values},
                  {in(program, "left", bucket.values)},
                  {in(program, "right", bucket.values)}},
                 {{bucket.values}}, {0.5, 0.25, 0.25});
}

Setup ring_setup(const PlanInput& input) { return frame_with(input, {"left", "right"}); }

/// Neighbor averaging, adapt then combine.
HandPlanner ring_atc() {
  return {ring_setup, [](Program& program, Variant) {
            program.compute();
            for (const Bucket& bucket : buckets(program)) {
              program.update(bucket, 1);
              mix_with_ring(program, bucket);
              average_ring(program, bucket);
            }
          }};
}

/// Neighbor averaging beside the computation (combine while adapting).
HandPlanner ring_awc() {
  return {ring_setup, [](Program& program, Variant) {
            for (const Bucket& bucket : buckets(program)) {
              mix_with_ring(program, bucket);
            }
            program.compute();
            for (const Bucket& bucket : buckets(program)) {
              average_ring(program, bucket);
              program.update(bucket, 1);
            }
          }};
}

/// Three local steps, then the average of the parameters.
HandPlanner local_sgd() {
  return {[](const PlanInput& input) { return frame_with(input, {}); },
          [](Program& program, Variant variant) {
            program.compute();
            for (const Bucket& bucket : buckets(program)) {
              program.update(bucket, 1);
              if (variant == 2) {
                program.all_reduce(bucket.values, on(program, "all"), Reduce::kMean);
              }
            }
          },
          3};
}

/// Another partner in every step.
HandPlanner one_peer() {
  return {[](const PlanInput& input) { return frame_with(input, {"theirs"}); },
          [](Program& program, Variant variant) {
            const Rank by = 1 + static_cast<Rank>(variant);
            program.compute();
            for (const Bucket& bucket : buckets(program)) {
              const Slice theirs = in(program, "theirs", bucket.values);
              program.update(bucket, 1);
              program.exchange(on(program, "all"), {{next(program, by), bucket.values}},
                               {{next(program, -by), theirs}});
              program.kernel("linear", {{bucket.values}, {theirs}}, {{bucket.values}}, {0.5, 0.5});
            }
          },
          2};
}

/// Tensors cut into pieces of eight elements that cross by priority, one at a time: the first
/// layers, which the next forward needs first, overtake.
HandPlanner partitioned(IssueOrder order, std::int64_t credit) {
  return {[=](const PlanInput& input) {
            Setup setup = frame_with(input, {});
            setup.communicators[0].order = order;
            setup.communicators[0].credit_bytes = credit;
            return setup;
          },
          [](Program& program, Variant) {
            program.compute();
            const Setup& setup = program.setup();
            for (const ParameterId id : program.input().model.ready_order) {
              const Slice tensor = setup.parameters[index_of(id)].gradient;
              for (Elements at = 0; at < tensor.count; at += 8) {
                const OpIndex op = program.all_reduce(
                    {tensor.buffer, tensor.begin + at, std::min<Elements>(8, tensor.count - at)},
                    on(program, "all"));
                program.at(op).priority = static_cast<std::int32_t>(id);
              }
            }
            for (const ParameterId id : program.input().model.ready_order) {
              const ParameterPlacement& where = setup.parameters[index_of(id)];
              program.update({{id}, where.value, where.gradient}, program.input().world);
            }
          }};
}

/// Two nodes of two: scatter in the node, sum across, gather in the node.
HandPlanner hierarchical() {
  return {[](const PlanInput& input) {
            SetupBuilder builder(input, pairs(input.model), 2);
            builder.add_communicator("node0", {0, 1});
            builder.add_communicator("node1", {2, 3});
            builder.add_communicator("lane0", {0, 2});
            builder.add_communicator("lane1", {1, 3});
            return std::move(builder).finish();
          },
          [](Program& program, Variant) {
            const Rank rank = program.input().rank;
            const CommunicatorId node = on(program, rank < 2 ? "node0" : "node1");
            const CommunicatorId lane = on(program, rank % 2 == 0 ? "lane0" : "lane1");
            program.compute();
            for (const Bucket& bucket : buckets(program)) {
              const Slice own = shard(bucket.gradients, rank % 2, 2);
              program.reduce_scatter(bucket.gradients, own, node);
              program.all_reduce(own, lane);
              program.all_gather(own, bucket.gradients, node);
              program.update(bucket, 4);
            }
          }};
}

}  // namespace

std::vector<HandPlan> strict_hand_plans() {
  return {
      {"dear", 3, dear},
      {"sharded update", 3, sharded_update},
      {"parameter server", 4, parameter_server},
      {"ring atc", 4, ring_atc},
      {"ring awc", 4, ring_awc},
      {"local sgd", 3, local_sgd},
      {"one peer", 3, one_peer},
      {"priority", 3, [] { return partitioned(IssueOrder::kPriority, 1); }},
      {"priority, credit of two", 3, [] { return partitioned(IssueOrder::kPriority, 33); }},
      {"credit", 3, [] { return partitioned(IssueOrder::kProgram, 1); }},
      {"hierarchical", 4, hierarchical},
  };
}

}  // namespace paceline::plan
