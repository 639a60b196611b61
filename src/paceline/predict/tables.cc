// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/sharded_embeddings.h"

namespace paceline::predict {
namespace {

using plan::Elements;
using plan::ModuleId;
using strategies::BagShape;
using strategies::EmbeddingJob;

constexpr double kBytes = 4;  // of an element

void add_parameter(std::string name,
                   std::vector<Elements> sizes,
                   std::size_t module,
                   plan::ModelShape& model) {
  Elements elements = 1;
  for (const Elements size : sizes) {
    elements *= size;
  }
  model.parameters.push_back(
      {.name = std::move(name),
       .sizes = std::move(sizes),
       .elements = elements,
       .module = ModuleId{static_cast<std::int32_t>(module)}});
}

/// The dense part of the DDP and RPC benchmark behind the bags of `job`.
/// tests/measure/embeddings_test.cc compares it with the torch module.
plan::NetworkShape hybrid_shape(const EmbeddingJob& job) {
  plan::NetworkShape shape;
  plan::ModelShape& model = shape.model;
  model.name = "hybrid";
  model.modules.emplace_back("embedding_bags");
  const auto width = static_cast<double>(job.width());
  shape.work.push_back({.kind = plan::LayerKind::kEmbedding,
                        .flops = width,
                        .bytes = 2 * kBytes * width});
  Elements inputs = job.width();
  constexpr std::array<Elements, 5> kUnits{256, 128, 64, 32, 8};
  for (const Elements units : kUnits) {
    const std::size_t module = model.modules.size();
    const std::string name = fmt::format("fc{}", module);
    model.modules.push_back(name);
    add_parameter(name + ".weight", {units, inputs}, module, model);
    add_parameter(name + ".bias", {units}, module, model);
    shape.work.push_back(
        {.flops = 2 * static_cast<double>(inputs * units),
         .bytes = kBytes * static_cast<double>(inputs + units)});
    inputs = units;
  }
  add_parameter(std::string(strategies::kPooledParameter),
                {std::max(Elements{2}, job.bags.most_bags()), job.width()},
                0,
                model);
  for (std::size_t p = model.parameters.size() - 1; p-- > 0;) {
    model.ready_order.push_back(static_cast<plan::ParameterId>(p));
  }
  model.ready_order.push_back(
      static_cast<plan::ParameterId>(model.parameters.size() - 1));
  shape.leaf_calls = 9;  // linear layers, and a ReLU behind all but the last
  return shape;
}

}  // namespace

std::optional<EmbeddingJob> embedding_job_of(const records::Configuration& c) {
  if (!c.has_tables()) {
    return std::nullopt;
  }
  // A line of a click log names one row of each table.
  const BagShape bags = c.model == "dlrm" ? BagShape{.fewest = c.batch_size,
                                                     .most = c.batch_size,
                                                     .shortest_bag = 1,
                                                     .longest_bag = 1,
                                                     .shared = false,
                                                     .zipf = c.zipf}
                                          : BagShape{.zipf = c.zipf};
  return EmbeddingJob{.trainers = c.trainers,
                      .servers = c.servers,
                      .tables = c.servers,
                      .rows = c.embeddings,
                      .dim = c.embedding_dim,
                      .placement = strategies::table_placement(c.placement),
                      .mean = c.pooling == "mean",
                      .sequential = c.lookup == "sequential",
                      .bags = bags,
                      .rule = strategies::row_rule(c.row_optimizer),
                      .bf16_rows = c.row_dtype == "bf16",
                      .staleness = c.staleness};
}

double typical_bags(const BagShape& bags) {
  // bags_of[n]: of n lookups; the first bag is of any length.
  std::vector<double> bags_of(static_cast<std::size_t>(bags.most) + 1);
  for (Elements n = 1; n <= bags.most; ++n) {
    double sum = 0;
    for (Elements length = bags.shortest_bag; length <= bags.longest_bag;
         ++length) {
      sum +=
          bags_of[static_cast<std::size_t>(std::max(Elements{0}, n - length))];
    }
    bags_of[static_cast<std::size_t>(n)] =
        1 + sum / static_cast<double>(bags.longest_bag - bags.shortest_bag + 1);
  }
  double all = 0;
  for (Elements n = bags.fewest; n <= bags.most; ++n) {
    all += bags_of[static_cast<std::size_t>(n)];
  }
  return all / static_cast<double>(bags.most - bags.fewest + 1);
}

void set_tables(const records::Configuration& c, PredictRequest& request) {
  if (c.model != "hybrid") {
    throw UsageError(
        fmt::format("{}: of the networks with embedding tables hybrid alone "
                    "is predicted",
                    c.model));
  }
  const auto job = embedding_job_of(c);
  strategies::check_job(*job);
  request.network = hybrid_shape(*job);
  request.tables = job;
  request.ranks = job->ranks();
  if (request.batch_size == 0) {
    request.batch_size = static_cast<int>(std::lround(typical_bags(job->bags)));
  }
}

}  // namespace paceline::predict
