// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/predict/error_bar.h"
#include "paceline/predict/predict_request.h"

namespace paceline::predict {

/// A job with its tables placed in one way.
struct PlacedTables {
  strategies::TablePlacement placement{};
  bool colocated = false;  // on the trainers
  plan::Rank ranks = 0;
  plan::Picoseconds step = 0;
  double samples_per_s = 0;
  /// Rows, their state and dense gradients, on the fullest server.
  std::int64_t server_bytes = 0;
  /// The part of the step by which it is longer than a step of the same
  /// trainers and strategy without tables: 0 to 1.
  double share = 0;
  bool like_best = false;  // as fast as the first, to a microsecond
  ErrorBar bar{};
};

/// Every placement of the request's tables that its other options allow, the
/// fastest first, of equally fast ones the one of fewest ranks; where servers
/// are as many as trainers, also on the trainers.  Whether tables fit is not
/// checked: rows lie in the hosts' memory, which clusters do not describe.
std::vector<PlacedTables> rank_placements(PredictRequest request);

/// Rows, their state and dense gradients, all servers together.
std::int64_t table_bytes(const strategies::EmbeddingJob& job);

}  // namespace paceline::predict
