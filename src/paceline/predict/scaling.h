// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/predict/advise.h"

// Predicts the efficiency of a strategy at growing numbers of ranks.

namespace paceline::predict {

/// The efficiency below which a strategy counts as no longer scaling.
inline constexpr double kKneeEfficiency = 0.9;

/// The strategy on one number of ranks.  `low` and `high` are the efficiencies at the ends of the
/// step's interval.
struct ScaledWorld {
  plan::Rank ranks = 1;
  Advice advice;
  double efficiency = 0, low = 0, high = 0;
};

/// The number of ranks relative to which efficiency is computed, and its step.
struct ScalingBase {
  plan::Rank ranks = 1;
  int batch_size = 1;
  double step_s = 0;
  bool measured = false;  // false: the base is the predicted step of one device alone
};

struct Scaling {
  std::string strategy;
  ScalingBase base;
  std::vector<ScaledWorld> worlds;  // from the fewest ranks on
  plan::Rank described = 1;  // ranks of the described cluster; larger worlds have more such hosts
  std::string end{};         // why no larger cluster is predicted; empty: some are

  /// Returns the smallest world from which on every efficiency is below kKneeEfficiency: as
  /// predicted, and at the worse and the better end of each step's interval.  Empty if the largest
  /// world is not below.
  std::optional<plan::Rank> knee() const { return knee_by(&ScaledWorld::efficiency); }
  std::optional<plan::Rank> earliest_knee() const { return knee_by(&ScaledWorld::low); }
  std::optional<plan::Rank> latest_knee() const { return knee_by(&ScaledWorld::high); }

 private:
  std::optional<plan::Rank> knee_by(double ScaledWorld::*efficiency) const;
};

/// Predicts `strategy` on the whole cluster and on every power of two of ranks above those of the
/// base, each with the job's batch per rank.
///
/// The base is the smallest world that was measured with the job's batch, or one device if none
/// was.  If the cluster's hosts are alike and a network joins them, larger clusters of such hosts
/// follow, up to eight times its size and 4,096 ranks.  Up to these sizes, extrapolations from
/// fewer nodes were compared with published throughputs (docs/simulator.md).  Leaves out worlds in
/// which the strategy cannot run.
Scaling scaling_of(const AdviseRequest& request, const std::string& strategy);

}  // namespace paceline::predict
