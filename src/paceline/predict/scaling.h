// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/predict/advise.h"

// How far a strategy scales: its efficiency by the number of ranks.

namespace paceline::predict {

/// The efficiency below which scaling is said to end.
inline constexpr double kKneeEfficiency = 0.9;

/// The strategy on so many ranks.  `low` and `high` are the efficiencies at the ends of the step's
/// interval.
struct ScaledWorld {
  plan::Rank ranks = 1;
  Advice advice;
  double efficiency = 0, low = 0, high = 0;
};

/// What efficiency is a share of: the rate of a rank in this world.
struct ScalingBase {
  plan::Rank ranks = 1;
  int batch_size = 1;
  double step_s = 0;
  bool measured = false;  // else the predicted step of one device alone
};

struct Scaling {
  std::string strategy;
  ScalingBase base;
  std::vector<ScaledWorld> worlds;  // fewest ranks first
  plan::Rank described = 1;         // of the cluster; larger worlds have more hosts like its own
  std::string end{};                // why larger clusters are left out; empty: they are not

  /// From which world on every efficiency is below kKneeEfficiency: as predicted, and at the worse
  /// and the better end of each step's interval.  Empty: not up to the largest world.
  std::optional<plan::Rank> knee() const { return knee_by(&ScaledWorld::efficiency); }
  std::optional<plan::Rank> earliest_knee() const { return knee_by(&ScaledWorld::low); }
  std::optional<plan::Rank> latest_knee() const { return knee_by(&ScaledWorld::high); }

 private:
  std::optional<plan::Rank> knee_by(double ScaledWorld::*efficiency) const;
};

/// Whether servers hold the parameters, whose prices take minutes beyond kMostServers ranks.
bool has_servers(const std::string& strategy);

/// Predicts `strategy` on every power of two of ranks above those of the base, each with the job's
/// batch per rank, and on the whole cluster.
///
/// The base is the smallest measured world, without figures one device.  Where the cluster's hosts
/// are alike and a network joins them, larger clusters of such hosts follow, up to eight times its
/// size and 4,096 ranks, as far as extrapolations from fewer nodes were compared with published
/// figures (docs/simulator.md).  A world in which the strategy cannot be is left out.
Scaling scaling_of(const AdviseRequest& request, const std::string& strategy);

}  // namespace paceline::predict
