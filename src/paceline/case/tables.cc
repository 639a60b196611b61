// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/tables.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/optimizer.h"
#include "paceline/strategies/sharded_embeddings.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cases {
namespace {

using plan::Elements;
using plan::ModuleId;
using strategies::BagShape;
using strategies::EmbeddingJob;

constexpr double kFp32Bytes = 4;  // bytes of an fp32 element

void add_parameter(std::string name, std::vector<Elements> sizes, std::size_t module,
                   plan::ModelShape& model) {
  Elements elements = 1;
  for (const Elements size : sizes) {
    elements *= size;
  }
  model.parameters.push_back({.name = std::move(name),
                              .sizes = std::move(sizes),
                              .elements = elements,
                              .module = ModuleId{static_cast<std::int32_t>(module)}});
}

/// Adds a linear layer with any ReLU that follows; returns the number of its outputs.
Elements add_linear(std::string name, Elements inputs, Elements outputs,
                    plan::NetworkShape& shape) {
  plan::ModelShape& model = shape.model;
  const std::size_t module = model.modules.size();
  add_parameter(name + ".weight", {outputs, inputs}, module, model);
  add_parameter(name + ".bias", {outputs}, module, model);
  model.modules.push_back(std::move(name));
  shape.work.push_back({.flops = 2 * static_cast<double>(inputs * outputs),
                        .bytes = kFp32Bytes * static_cast<double>(inputs + outputs)});
  return outputs;
}

/// Adds the module of the embedding bags, with the work of `after`, a layer without parameters that
/// follows it.
void add_bags_module(const EmbeddingJob& job, const plan::LayerWork& after,
                     plan::NetworkShape& shape) {
  shape.model.modules.emplace_back("embedding_bags");
  const auto width = static_cast<double>(job.width());
  shape.work.push_back({.kind = plan::LayerKind::kEmbedding,
                        .flops = width + after.flops,
                        .bytes = 2 * kFp32Bytes * width + after.bytes});
}

/// Adds the parameter of the embedding bags as the last parameter. Gradients become ready in
/// backward order: that of the bags before those of the modules in front of the bags.
void add_bags_parameter(const EmbeddingJob& job, std::size_t module, plan::ModelShape& model) {
  add_parameter(std::string(strategies::kPooledParameter),
                {std::max(Elements{2}, job.bags.most_bags()), job.width()}, module, model);
  const auto pooled = static_cast<plan::ParameterId>(model.parameters.size() - 1);
  for (std::size_t p = model.parameters.size() - 1; p-- > 0;) {
    const bool before = plan::index_of(model.parameters[p].module) < module;
    if (before && std::ranges::find(model.ready_order, pooled) == model.ready_order.end()) {
      model.ready_order.push_back(pooled);
    }
    model.ready_order.push_back(static_cast<plan::ParameterId>(p));
  }
  if (model.ready_order.size() < model.parameters.size()) {
    model.ready_order.push_back(pooled);
  }
}

/// The dense part of the network of PyTorch's DDP and RPC benchmark, whose input is the bags of
/// `job`. tests/rank/embeddings_test.cc compares it with the torch module.
plan::NetworkShape hybrid_shape(const EmbeddingJob& job) {
  plan::NetworkShape shape;
  shape.model.name = "hybrid";
  add_bags_module(job, {}, shape);
  Elements inputs = job.width();
  for (const Elements units : {256, 128, 64, 32, 8}) {
    inputs = add_linear(fmt::format("fc{}", shape.model.modules.size()), inputs, units, shape);
  }
  add_bags_parameter(job, 0, shape.model);
  shape.leaf_calls = 9;  // linear layers, and a ReLU after all but the last
  return shape;
}

/// Describes the layers of networks/embeddings.cc; the same test compares it with the torch module.
plan::NetworkShape dlrm_shape(const EmbeddingJob& job) {
  plan::NetworkShape shape;
  shape.model.name = "dlrm";
  const auto add_layers = [&](std::string_view part, Elements inputs,
                              const std::vector<Elements>& units) {
    int layer = 0;
    for (const Elements outputs : units) {
      inputs = add_linear(fmt::format("{}.fc{}", part, ++layer), inputs, outputs, shape);
    }
  };
  add_layers("bottom", 13, {512, 256, 64, job.dim});
  const std::size_t bags = shape.model.modules.size();
  // The interaction joins all vectors into a matrix and computes all pairwise inner products, half
  // of which (without duplicates) are inputs of the next layer.
  const Elements vectors = job.tables + 1;
  const Elements joined = job.dim + vectors * (vectors - 1) / 2;
  const plan::LayerWork interaction{
      .flops = 2 * static_cast<double>(vectors * vectors * job.dim),
      .bytes =
          kFp32Bytes * static_cast<double>(4 * vectors * job.dim + vectors * vectors + 2 * joined)};
  add_bags_module(job, interaction, shape);
  add_layers("top", joined, {512, 256, 2});
  add_bags_parameter(job, bags, shape.model);
  shape.leaf_calls = 13;  // linear layers, and a ReLU after all but the last
  return shape;
}

}  // namespace

std::optional<EmbeddingJob> embedding_job_of(const Case& c) {
  if (!c.has_tables()) {
    return std::nullopt;
  }
  // A line of a click log names one row of each table, so every bag of dlrm has one id.
  const BagShape bags = c.model == "dlrm" ? BagShape{.fewest = c.batch_size,
                                                     .most = c.batch_size,
                                                     .shortest_bag = 1,
                                                     .longest_bag = 1,
                                                     .shared = false,
                                                     .zipf = c.zipf}
                                          : BagShape{.zipf = c.zipf};
  const int servers = c.servers > 0 ? c.servers : c.trainers;
  return EmbeddingJob{.trainers = c.trainers,
                      .servers = servers,
                      .tables = servers,
                      .rows = c.embeddings,
                      .dim = c.embedding_dim,
                      .placement = strategies::table_placement(c.placement),
                      .mean = c.pooling == "mean",
                      .sequential = c.as_original,
                      .bags = bags,
                      .rule = strategies::row_rule(c.row_optimizer),
                      .bf16_rows = c.row_dtype == "bf16",
                      .dense_gradients = c.as_original,
                      .staleness = c.staleness,
                      .colocated = c.servers == 0};
}

plan::NetworkShape network_shape_of(const Network& network, const EmbeddingJob& job) {
  return network.model == "dlrm" ? dlrm_shape(job) : hybrid_shape(job);
}

plan::OptimizerShape optimizer_of(const Case& c) {
  return plan::shape_of(c.optimizer, c.momentum != 0);
}

std::unique_ptr<plan::Planner> planner_of(const EmbeddingJob& job,
                                          const strategies::StrategySpec& strategy) {
  const bool alone = strategy.whole.row != nullptr && strategy.whole.row->name == "none";
  return strategies::make_sharded_embeddings(
      job, strategies::make_planner(strategy),
      alone ? strategies::RowExchange::kAbsent : strategies::RowExchange::kServed);
}

std::vector<strategies::PlanMemory> memory_of_ranks(const plan::Planner& planner,
                                                    plan::PlanInput input) {
  std::vector<strategies::PlanMemory> memory;
  for (input.rank = 0; input.rank < input.world; ++input.rank) {
    memory.push_back(strategies::memory_of_plan(planner, input));
  }
  return memory;
}

std::vector<std::int64_t> bytes_by_host(const std::vector<strategies::PlanMemory>& memory,
                                        const std::vector<int>& ranks_per_host) {
  std::vector<std::int64_t> hosts;
  auto rank = memory.begin();
  for (const int here : ranks_per_host) {
    std::int64_t& bytes = hosts.emplace_back(0);
    for (const auto end = rank + here; rank != end; ++rank) {
      bytes += rank->bytes();
    }
  }
  return hosts;
}

std::vector<strategies::PlanMemory> memory_of_run(const Case& c) {
  const auto job = embedding_job_of(c);
  strategies::check_job(*job);
  const auto strategy = strategies::strategy_of(c);
  plan::PlanInput input{.model = network_shape_of(c, *job).model,
                        .optimizer = optimizer_of(c),
                        .world = job->ranks(),
                        .local_world = c.ranks_per_host};
  if (strategies::needs_times(strategy)) {  // times are measured later; here all are zero
    const auto free = plan::alpha_beta_time_of(0, 0);
    input.profile = {.origin = "none",
                     .forward = std::vector<plan::Picoseconds>(input.model.modules.size()),
                     .backward = std::vector<plan::Picoseconds>(input.model.parameters.size())};
    input.alpha_beta = {.origin = "none",
                        .world = c.trainers,
                        .all_reduce = free,
                        .reduce_scatter = free,
                        .all_gather = free,
                        .broadcast = free,
                        .message = free};
  }
  auto memory = memory_of_ranks(*planner_of(*job, strategy), input);
  std::int64_t beside = input.model.bytes();
  if (input.world > 1 && c.strategy != "none" && !c.discard) {
    const auto alone = planner_of(*job, strategies::parse_strategy("none", {}));
    beside += strategies::memory_of_plan(*alone, input).bytes();
  }
  for (int trainer = 0; trainer < c.trainers; ++trainer) {
    memory[static_cast<std::size_t>(trainer)].other += beside;
  }
  return memory;
}

}  // namespace paceline::cases
