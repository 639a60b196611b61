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
  std::int64_t server_bytes = 0;  // rows and their state, on the fullest server
  bool fits = true;  // these, into the memory that the cluster's device has
  /// The part of the step by which it is longer than a step of the same
  /// trainers and strategy without tables: 0 to 1.
  double share = 0;
  ErrorBar bar{};
};

/// Every placement of the request's tables that its other options allow, those
/// that fit first and of them the fastest; where servers are as many as
/// trainers, also on the trainers.
std::vector<PlacedTables> rank_placements(PredictRequest request);

/// Rows and their state, all servers together.
std::int64_t table_bytes(const strategies::EmbeddingJob& job);

}  // namespace paceline::predict
