// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/codec_times.h"
#include "paceline/cluster/machine.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/profile.h"
#include "paceline/predict/engines.h"
#include "paceline/records/run_record.h"
#include "paceline/simulator/job.h"
#include "paceline/strategies/embedding_job.h"

namespace paceline::simulator {
class JobCache;  // simulator/job_cache.h
}  // namespace paceline::simulator

namespace paceline::predict {

/// Samples/s of one device alone that can be simulated.
inline constexpr double kLeastDeviceRate = 0.001, kMostDeviceRate = 1e9;

inline bool is_device_rate(double samples_per_s) {
  return samples_per_s >= kLeastDeviceRate && samples_per_s <= kMostDeviceRate;
}

/// What measured figures say of links and software beside what describes them
/// (predict/measured_fit.h).
struct MeasuredCosts {
  double network_share = 1, device_share = 1;  // of the links' rates
  plan::Picoseconds collective = 0;            // added to the start of each; may be < 0
  double slowdown = 0;                         // compute takes 1 + so much under a transfer

  friend bool operator==(const MeasuredCosts&, const MeasuredCosts&) = default;
};

/// A training job on a described cluster.
struct PredictRequest {
  plan::NetworkShape network{};
  cluster::Cluster cluster;
  std::string strategy = "fusion";
  double bucket_mb = 25;
  plan::Rank ranks = 1;
  std::optional<strategies::EmbeddingJob> tables{};  // predict/tables.h
  /// Per rank and step, all micro-batches together; 0: the cluster's, or 32
  /// for each micro-batch.
  int batch_size = 0;
  int accumulate = 1;  // micro-batches a step
  /// Of one device alone that updates behind each micro-batch.
  std::optional<double> samples_per_s{};
  std::optional<plan::LayerProfile> profile{};  // measured layer times
  std::string profile_device{};                 // on which; empty: not said
  std::vector<records::Warning> warnings{};     // of what is given; the record has them
  std::optional<plan::Picoseconds> update{};    // of all parameters, measured
  std::vector<cluster::CodecTime> codecs{};     // measured; empty: none
  /// In a step's kernels of the codec, measured on the slowest rank, above 0; takes the place of
  /// `codecs`.
  std::optional<double> coding_s{};
  std::string optimizer = "sgd";
  bool momentum = true;                    // of sgd, which keeps it
  bool unfused = false;                    // a launch for each of the optimizer's tensors
  std::string engine{};                    // predict/engine_choice.h
  std::optional<std::string> algorithm{};  // of collectives
  /// Steps in the record, rounded up to whole periods of the strategy.
  plan::Step steps = 10;
  cluster::Noise noise{};
  /// Instead of the cluster's links and the engine's costs.
  std::optional<cluster::Machine> machine{};
  std::optional<cluster::SoftwareCosts> software{};
  MeasuredCosts measured{};
  /// The times by which a measured run was planned, in place of these prices.
  std::optional<records::PlannedBy> planned_by{};
  std::shared_ptr<const CostTable> costs{};  // null: shipped_costs()
  /// Compiled jobs of earlier requests, and of this one; null: none is kept.
  simulator::JobCache* jobs = nullptr;

  const CostTable& cost_table() const { return costs ? *costs : shipped_costs(); }
};

/// What a prediction was priced with, so that predictions of one job with other prices are other
/// cases:
///
///   two nodes; ring; noise 0.05; stragglers 0.1 x 3; device 500 samples/s;
///   prices 5e8a1c02; layers 0b1d6f93
///
/// The cluster's name; the algorithm of collectives, unfused updates, the noise, the stragglers and
/// the rate of the device that were asked for; digits that change with any figure of its links and
/// device and with costs of one's own; where layers have been measured, digits that change with
/// their times. Hosts and engine are in the record by themselves.  Empty where the
/// request brings a machine of its own instead of the cluster's.
std::string priced_on(const PredictRequest& request);

}  // namespace paceline::predict
