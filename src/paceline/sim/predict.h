// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/plan/cluster.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/record/run_record.h"
#include "paceline/sim/bound.h"
#include "paceline/sim/error_bar.h"
#include "paceline/sim/run_record.h"
#include "paceline/sim/trace.h"

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

struct Prediction {
  std::unique_ptr<Job> job;
  Costs costs;
  StepTimes times;         // with communication
  StepTimes compute_only;  // the same without
  Bound bound;
  ErrorBar bar;
  record::RunRecord record;
  std::vector<record::Span> spans;  // filled on request, with rank_names
  std::map<int, std::string> rank_names{};

  /// Of all ranks that train, in the steady state.
  double samples_per_s() const;
  Picoseconds exposed() const { return times.step - compute_only.step; }
};

/// Plans the job and executes the plan in virtual time.
///
/// Layer times are the request's profile, stretched to `samples_per_s` where
/// that is given; else a roofline over the network's layers, stretched to the
/// throughput of one device that the request or the cluster file gives; else
/// the roofline of the device's figures as they are, which the record warns of.
/// Throws UsageError for a request that cannot be.
Prediction predict(const PredictRequest& request, bool with_spans = false);

/// Whether layer times rest on a measurement: a profile, or a throughput of one
/// device that the request or the cluster file gives.
bool is_timed(const PredictRequest& request);

/// Bytes that one rank's update reads and writes in a step.
double update_bytes(const plan::PlanInput& input);

/// What planners know of the machine's communication, as one line per
/// operation through its times at nothing and at 64 MiB.
plan::AlphaBeta alpha_beta_of(const Machine& machine,
                              const SoftwareCosts& software,
                              const Group& group);

/// Lines for people: step, rate, where the time goes (model work and kernels
/// without communication, and what that adds), the bound, the error bar.
std::string summary_of(const Prediction& prediction);

}  // namespace paceline::sim
