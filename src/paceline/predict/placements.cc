// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/placements.h"

#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/predict/predict.h"
#include "paceline/strategies/bags_apart.h"

namespace paceline::predict {
namespace {

using strategies::EmbeddingJob;
using strategies::TablePlacement;

std::int64_t bytes_of_row(const EmbeddingJob& job) {
  return job.dim * (job.bf16_rows ? 2 : 4) + job.state_of_row() * 4;
}

std::int64_t fullest_server(const EmbeddingJob& job) {
  const strategies::TableMap map(job);
  plan::Elements most = 0;
  for (plan::Rank server = 0; server < job.servers; ++server) {
    most = std::max(most, map.rows_of(server));
  }
  return most * bytes_of_row(job);
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

std::vector<PlacedTables> rank_placements(PredictRequest request) {
  PACELINE_CHECK(request.tables.has_value());
  const plan::Picoseconds alone = predict(without_tables(request)).times.step;
  std::vector<PlacedTables> ranked;
  for (const auto placement : {TablePlacement::kTable,
                               TablePlacement::kRowHash,
                               TablePlacement::kRowRange,
                               TablePlacement::kReplicated}) {
    if (placement == TablePlacement::kReplicated &&
        request.tables->staleness > 0) {
      continue;  // replicas would drift apart
    }
    request.tables->placement = placement;
    const Prediction prediction = predict(request);
    const auto step = prediction.times.step;
    ranked.push_back({.placement = placement,
                      .step = step,
                      .samples_per_s = prediction.samples_per_s(),
                      .server_bytes = fullest_server(*request.tables),
                      .share = static_cast<double>(std::max(
                                   plan::Picoseconds{0}, step - alone)) /
                               static_cast<double>(step)});
  }
  std::ranges::stable_sort(ranked, {}, &PlacedTables::step);
  return ranked;
}

}  // namespace paceline::predict
