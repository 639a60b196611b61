// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/placements.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/case/tables.h"
#include "paceline/predict/predict.h"
#include "paceline/simulator/job_cache.h"
#include "paceline/strategies/bags_apart.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

using strategies::EmbeddingJob;
using strategies::PlanMemory;
using strategies::TablePlacement;

std::int64_t fullest_server(const std::vector<PlanMemory>& memory) {
  return std::ranges::max(memory, {}, &PlanMemory::rows).rows;
}

/// Bytes of one table on all servers, with its copies, state and dense gradients.
std::int64_t table_bytes(const EmbeddingJob& job, const std::vector<PlanMemory>& memory) {
  std::int64_t rows = 0;
  for (const PlanMemory& rank : memory) {
    rows += rank.rows;
  }
  return rows / job.tables;
}

/// Ranks fill the hosts in their order.
std::optional<HostUse> fullest_host(const std::vector<PlanMemory>& memory,
                                    const cluster::Cluster& cluster) {
  const auto ranks = cluster::ranks_per_host(cluster, static_cast<plan::Rank>(memory.size()));
  std::optional<HostUse> fullest;
  auto rank = memory.begin();
  for (std::size_t h = 0; h < ranks.size(); ++h) {
    const cluster::ClusterHost& host = cluster.hosts[h];
    HostUse use{.host = host.name, .bytes = 0, .memory_bytes = host.memory_bytes.value_or(0)};
    for (const auto end = rank + ranks[h]; rank != end; ++rank) {
      use.bytes += rank->bytes();
    }
    if (host.memory_bytes && (!fullest || use.share() > fullest->share())) {
      fullest = use;
    }
  }
  return fullest;
}

/// What every rank's plan takes.
std::vector<PlanMemory> memory_of(const PredictRequest& request, const plan::PlanInput& input) {
  return cases::memory_of_ranks(
      *cases::planner_of(*request.tables, strategies::strategy_of(request)), input);
}

/// The step of the same trainers and dense layers, as fast as in `predicted`, which look nothing
/// up.
plan::Picoseconds step_without_tables(PredictRequest request, const Prediction& predicted,
                                      simulator::JobCache& jobs) {
  const auto parts = strategies::without_bags(request.network.model);
  const auto bags = static_cast<std::ptrdiff_t>(parts.module);
  request.network.model = parts.dense;
  request.network.work.erase(request.network.work.begin() + bags);
  request.profile = predicted.costs.profile;
  request.profile->forward.erase(request.profile->forward.begin() + bags);
  request.profile->backward.pop_back();
  request.samples_per_s.reset();
  request.machine = predicted.costs.machine;
  request.software = predicted.costs.software;
  request.ranks = request.tables->trainers;
  request.tables.reset();
  request.jobs = &jobs;
  return predict(request).times.step;
}

/// The job with every placement that there can be: in its own form, and on the trainers where that
/// form has as many tables.
std::vector<EmbeddingJob> forms_of(EmbeddingJob job) {
  std::vector<EmbeddingJob> forms;
  for (const bool colocated : {false, true}) {
    if (colocated ? job.servers != job.trainers : job.colocated) {
      continue;
    }
    EmbeddingJob form = job;
    form.colocated = colocated;
    for (const auto placement : {TablePlacement::kTable, TablePlacement::kRowHash,
                                 TablePlacement::kRowRange, TablePlacement::kReplicated}) {
      form.placement = placement;
      if (strategies::why_not_placed(form).empty()) {
        forms.push_back(form);
      }
    }
  }
  return forms;
}

/// Those that fit, the fastest first; then those that are not told apart from the first, by what
/// they take.
void rank(std::vector<PlacedTables>& placed) {
  std::ranges::stable_sort(placed, {},
                           [](const PlacedTables& it) { return std::tuple(!it.fits(), it.step); });
  const auto apart =
      static_cast<double>(placed.front().step) * (1 + placements_distinguishable_by());
  for (PlacedTables& it : placed) {
    it.like_best = it.fits() && static_cast<double>(it.step) <= apart;
  }
  const auto unlike = std::ranges::find(placed, false, &PlacedTables::like_best);
  std::ranges::stable_sort(placed.begin(), unlike, {}, [](const PlacedTables& it) {
    return std::tuple(it.ranks, it.server_bytes, it.placement);
  });
}

}  // namespace

std::vector<PlacedTables> rank_placements(PredictRequest request) {
  PACELINE_CHECK(request.tables.has_value());
  simulator::JobCache jobs;
  std::vector<PlacedTables> ranked;
  for (const EmbeddingJob& job : forms_of(*request.tables)) {
    request.tables = job;
    request.ranks = job.ranks();
    const Prediction prediction = predict(request);
    const auto step = prediction.times.step;
    const auto alone = step_without_tables(request, prediction, jobs);
    const auto memory = memory_of(request, prediction.job->input);
    ranked.push_back({.placement = job.placement,
                      .colocated = job.colocated,
                      .ranks = request.ranks,
                      .step = step,
                      .samples_per_s = prediction.samples_per_s(),
                      .server_bytes = fullest_server(memory),
                      .table_bytes = table_bytes(job, memory),
                      .share = static_cast<double>(std::max(plan::Picoseconds{0}, step - alone)) /
                               static_cast<double>(step),
                      .fullest_host = fullest_host(memory, request.cluster),
                      .bar = prediction.bar});
  }
  rank(ranked);
  return ranked;
}

void check_memory(const PredictRequest& request, const Prediction& prediction) {
  PACELINE_CHECK(request.tables.has_value());
  const auto use = fullest_host(memory_of(request, prediction.job->input), request.cluster);
  if (use && use->share() > 1) {
    throw UsageError(
        fmt::format("the tables do not fit: the job takes {:.3f} GB of host {}, which has {:.3f} "
                    "GB; take fewer or shorter rows, another --placement, or more hosts",
                    static_cast<double>(use->bytes) * 1e-9, use->host,
                    static_cast<double>(use->memory_bytes) * 1e-9));
  }
}

}  // namespace paceline::predict
