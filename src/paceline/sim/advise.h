// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/sim/predict.h"

namespace paceline::sim {

struct AdviseRequest {
  PredictRequest job;  // its strategy and bucket_mb are not looked at
  /// Sizes in MiB for strategies that have buckets.
  std::vector<double> bucket_mb = {1, 5, 10, 25, 50, 100};
  /// Of a prediction, as a share of the step.  Two strategies whose intervals
  /// overlap are not told apart.
  double error = 0.05;
};

/// One strategy as it would run.
struct Advice {
  record::Configuration configuration;
  Picoseconds step = 0, exposed = 0;
  Picoseconds low = 0, high = 0;  // step less and plus its error
  bool like_best = false;         // its interval overlaps the best one's
};

/// A strategy that cannot run here, and why.
struct Unfit {
  std::string strategy, why;
};

struct AdviceTable {
  std::vector<Advice> rows;  // fastest first
  std::vector<Unfit> unfit;
};

/// Predicts every schedule of the strategy table that leaves all ranks with the
/// parameters of one large batch, with every bucket size where it has buckets,
/// over an all-reduce and, on several hosts, over a hierarchical one.  Equal
/// predictions stay in the table's order.  Throws UsageError for a job that
/// cannot be.
AdviceTable advise(const AdviseRequest& request);

}  // namespace paceline::sim
