// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "paceline/strategies/sharded_embeddings.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::plan {

/// The tiny model behind embedding bags: module `at` of all.
inline ModelShape model_behind_bags(const strategies::EmbeddingJob& job, int at) {
  ModelShape model = tiny_model();
  model.modules.insert(model.modules.begin() + at, "embedding_bags");
  for (ParameterShape& parameter : model.parameters) {
    const int module = static_cast<int>(parameter.module);
    parameter.module = ModuleId{module + (module >= at ? 1 : 0)};
  }
  const Elements bags = job.bags.most_bags();
  model.parameters.push_back({.name = std::string(strategies::kPooledParameter),
                              .sizes = {bags, job.width()},
                              .elements = bags * job.width(),
                              .module = ModuleId{at}});
  const auto pooled = ParameterId{static_cast<std::int32_t>(model.parameters.size()) - 1};
  const auto before = std::ranges::find_if(model.ready_order, [&](ParameterId p) {
    return model.parameters[index_of(p)].module < ModuleId{at};
  });
  model.ready_order.insert(before, pooled);
  return model;
}

/// Without servers, the trainers hold the tables.
inline strategies::EmbeddingJob toy_job(Rank trainers, Rank servers) {
  return {.trainers = trainers,
          .servers = servers > 0 ? servers : trainers,
          .tables = 2,
          .rows = 5,
          .dim = 2,
          .bags = {.fewest = 1, .most = 3, .longest_bag = 2},
          .colocated = servers == 0};
}

inline std::unique_ptr<Planner> with_tables(const strategies::EmbeddingJob& job,
                                            std::string_view dense) {
  return strategies::make_sharded_embeddings(
      job, strategies::make_planner(strategies::parse_strategy(dense)),
      strategies::RowExchange::kServed);
}

/// All placements, more and fewer servers than trainers or tables, none beside the trainers, both
/// ways to ask, both kinds of gradients, the bags at any place of the model.
inline std::vector<std::pair<strategies::EmbeddingJob, int>> toy_jobs() {
  std::vector<std::pair<strategies::EmbeddingJob, int>> jobs;
  int at = 0;
  for (const auto placement :
       {strategies::TablePlacement::kTable, strategies::TablePlacement::kRowHash,
        strategies::TablePlacement::kRowRange, strategies::TablePlacement::kReplicated}) {
    for (const auto& [trainers, servers] :
         {std::pair{1, 1}, {2, 1}, {1, 3}, {3, 2}, {1, 0}, {2, 0}, {3, 0}}) {
      strategies::EmbeddingJob job = toy_job(trainers, servers);
      job.placement = placement;
      job.sequential = !job.colocated && at % 2 == 1;
      job.dense_gradients = at % 3 == 1;
      jobs.emplace_back(job, at++ % 4);
    }
  }
  return jobs;
}

}  // namespace paceline::plan
