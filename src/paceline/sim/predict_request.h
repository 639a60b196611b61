// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/plan/cluster.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/profile.h"
#include "paceline/sim/job.h"
#include "paceline/sim/machine.h"

namespace paceline::sim {

/// Samples/s of one device alone that can be simulated.
inline constexpr double kLeastDeviceRate = 0.001, kMostDeviceRate = 1e9;

inline bool is_device_rate(double samples_per_s) {
  return samples_per_s >= kLeastDeviceRate && samples_per_s <= kMostDeviceRate;
}

/// A training job on a described cluster.
struct PredictRequest {
  plan::NetworkShape network;
  plan::Cluster cluster;
  std::string strategy = "fusion";
  double bucket_mb = 25;
  Rank ranks = 1;
  int batch_size = 0;                     // per rank; 0: the cluster's, or 32
  std::optional<double> samples_per_s{};  // of one device alone
  std::optional<plan::LayerProfile> profile{};  // measured layer times
  std::string profile_device{};                 // on which; empty: not said
  std::optional<Picoseconds> update{};          // of all parameters, measured
  std::string optimizer = "sgd";
  std::string engine{};                    // sim/engine_choice.h
  std::optional<std::string> algorithm{};  // of collectives
  /// That the record shows; made whole periods of the strategy's.
  Step steps = 10;
  Noise noise{};
  /// Instead of the cluster's links and the engine's costs.
  std::optional<Machine> machine{};
  std::optional<SoftwareCosts> software{};
};

}  // namespace paceline::sim
