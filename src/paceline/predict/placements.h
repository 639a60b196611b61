// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/predict/error_bar.h"
#include "paceline/predict/predict_request.h"

namespace paceline::predict {

struct Prediction;  // predict/predict.h

/// What the plans of one host's ranks take of its memory.
struct HostUse {
  std::string host;
  std::int64_t bytes = 0, memory_bytes = 0;

  double share() const { return static_cast<double>(bytes) / static_cast<double>(memory_bytes); }
};

/// A job with its tables placed in one way.
struct PlacedTables {
  strategies::TablePlacement placement{};
  bool colocated = false;  // on the trainers
  plan::Rank ranks = 0;
  plan::Picoseconds step = 0;
  double samples_per_s = 0;
  /// Rows, their state and dense gradients, on the fullest server.
  std::int64_t server_bytes = 0;
  /// Rows of one table, their state and dense gradients, with all copies.
  std::int64_t table_bytes = 0;
  /// The part of the step by which it is longer than a step of the same trainers, dense layers and
  /// strategy without tables: 0 to 1.
  double share = 0;
  /// Use of the host that the job fills most; null where the cluster says no host's memory.
  std::optional<HostUse> fullest_host{};
  bool like_best = false;  // it fits, and is not told apart from the fastest
  ErrorBar bar{};

  bool fits() const { return !fullest_host || fullest_host->share() <= 1; }
};

/// Every placement of the request's tables that its other options allow; where servers are as many
/// as trainers, also on the trainers.  In this order:
/// 1. those that fit into the hosts' memory and are as fast as the fastest of
///    these, as far as error bars say: fewest ranks first, then least memory;
/// 2. the others that fit, the fastest first;
/// 3. those that do not fit.
std::vector<PlacedTables> rank_placements(PredictRequest request);

/// Throws UsageError where a predicted job with tables takes more than the memory of a host, as far
/// as the cluster says it.
void check_memory(const PredictRequest& request, const Prediction& prediction);

}  // namespace paceline::predict
