// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/placements.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/predict/predict.h"
#include "paceline/strategies/bags_apart.h"

namespace paceline::predict {
namespace {

using strategies::EmbeddingJob;
using strategies::TablePlacement;

std::int64_t bytes_of_row(const EmbeddingJob& job) {
  return job.dim * ((job.bf16_rows ? 2 : 4) + (job.dense_gradients ? 4 : 0)) +
         job.state_of_row() * 4;
}

std::int64_t fullest_server(const EmbeddingJob& job) {
  const strategies::TableMap map(job);
  plan::Elements most = 0;
  for (plan::Rank server = 0; server < job.servers; ++server) {
    most = std::max(most, map.rows_of(server));
  }
  return most * bytes_of_row(job);
}

/// Ranks fill the hosts in their order.
std::optional<HostUse> fullest_host(const EmbeddingJob& job,
                                    const cluster::Cluster& cluster) {
  const strategies::TableMap map(job);
  const auto ranks = cluster::ranks_per_host(cluster, job.ranks());
  std::optional<HostUse> fullest;
  plan::Rank rank = 0;
  for (std::size_t h = 0; h < ranks.size(); ++h) {
    const cluster::ClusterHost& host = cluster.hosts[h];
    HostUse use{.host = host.name,
                .bytes = 0,
                .memory_bytes = host.memory_bytes.value_or(0)};
    for (const plan::Rank end = rank + ranks[h]; rank < end; ++rank) {
      const plan::Rank server = rank - job.first_server();
      if (server >= 0 && server < job.servers) {
        use.bytes += map.rows_of(server) * bytes_of_row(job);
      }
    }
    if (host.memory_bytes && use.bytes > 0 &&
        (!fullest || use.share() > fullest->share())) {
      fullest = use;
    }
  }
  return fullest;
}

/// The trainers and their dense part, which look nothing up.
PredictRequest without_tables(PredictRequest request) {
  const auto parts = strategies::without_bags(request.network.model);
  request.network.model = parts.dense;
  request.network.work.erase(request.network.work.begin() +
                             static_cast<std::ptrdiff_t>(parts.module));
  request.ranks = request.tables->trainers;
  request.tables.reset();
  return request;
}

}  // namespace

std::int64_t table_bytes(const EmbeddingJob& job) {
  return job.rows * bytes_of_row(job);
}

namespace {

/// The job with every placement that there can be: in its own form, and on the
/// trainers where that form has as many tables.
std::vector<EmbeddingJob> forms_of(EmbeddingJob job) {
  std::vector<EmbeddingJob> forms;
  for (const bool colocated : {false, true}) {
    if (colocated ? job.servers != job.trainers : job.colocated) {
      continue;
    }
    EmbeddingJob form = job;
    form.colocated = colocated;
    for (const auto placement : {TablePlacement::kTable,
                                 TablePlacement::kRowHash,
                                 TablePlacement::kRowRange,
                                 TablePlacement::kReplicated}) {
      form.placement = placement;
      if (strategies::why_not_placed(form).empty()) {
        forms.push_back(form);
      }
    }
  }
  return forms;
}

std::int64_t microseconds(plan::Picoseconds time) {
  constexpr std::int64_t kPicoseconds = 1'000'000;
  return (time + kPicoseconds / 2) / kPicoseconds;
}

}  // namespace

std::vector<PlacedTables> rank_placements(PredictRequest request) {
  PACELINE_CHECK(request.tables.has_value());
  const plan::Picoseconds alone = predict(without_tables(request)).times.step;
  std::vector<PlacedTables> ranked;
  for (const EmbeddingJob& job : forms_of(*request.tables)) {
    request.tables = job;
    request.ranks = job.ranks();
    const Prediction prediction = predict(request);
    const auto step = prediction.times.step;
    ranked.push_back({.placement = job.placement,
                      .colocated = job.colocated,
                      .ranks = request.ranks,
                      .step = step,
                      .samples_per_s = prediction.samples_per_s(),
                      .server_bytes = fullest_server(job),
                      .share = static_cast<double>(std::max(
                                   plan::Picoseconds{0}, step - alone)) /
                               static_cast<double>(step),
                      .fullest_host = fullest_host(job, request.cluster),
                      .bar = prediction.bar});
  }
  std::ranges::stable_sort(ranked, {}, [](const PlacedTables& placed) {
    return std::tuple(!placed.fits(), microseconds(placed.step), placed.ranks);
  });
  for (PlacedTables& placed : ranked) {
    placed.like_best = placed.fits() && microseconds(placed.step) ==
                                            microseconds(ranked.front().step);
  }
  return ranked;
}

}  // namespace paceline::predict
