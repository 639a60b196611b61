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

/// The limits of samples/s of one device alone that can be simulated.
inline constexpr double kLeastDeviceRate = 0.001, kMostDeviceRate = 1e9;

inline bool is_device_rate(double samples_per_s) {
  return samples_per_s >= kLeastDeviceRate && samples_per_s <= kMostDeviceRate;
}

/// Corrections of the described links and software that were fitted to measurements of the job
/// (predict/measured_fit.h).
struct MeasuredCosts {
  /// Factors on the rates of the links between hosts and between devices.
  double network_share = 1, device_share = 1;
  plan::Picoseconds collective = 0;  // added to the start of each collective; may be negative
  double slowdown = 0;               // added slow-down of compute during transfers, as a share

  friend bool operator==(const MeasuredCosts&, const MeasuredCosts&) = default;
};

/// A training job on a described cluster.
struct PredictRequest {
  plan::NetworkShape network{};
  cluster::Cluster cluster;
  std::string strategy = "fusion";
  double bucket_mb = 25;
  plan::Rank ranks = 1;
  std::optional<strategies::EmbeddingJob> tables{};  // predict/case_request.h
  /// Examples per rank and step, all micro-batches together; 0: that of the cluster's throughput,
  /// or 32, for each micro-batch.
  int batch_size = 0;
  int accumulate = 1;  // micro-batches per step
  /// The examples/s of one device that trains alone with steps of `batch_size`.
  std::optional<double> samples_per_s{};
  /// Micro-batches per update when samples_per_s was measured, if that comes from measured figures;
  /// 0: those of the job, `accumulate`.
  int micro_batches_of_measured_rate = 0;
  std::optional<plan::LayerProfile> profile{};  // measured layer times
  std::string profile_device{};                 // device of `profile`; empty: unknown
  std::vector<records::Warning> warnings{};     // about the inputs; copied to the record
  std::optional<plan::Picoseconds> update{};    // measured time of the update of all parameters
  std::vector<cluster::CodecTime> codecs{};     // measured coding times; empty: none
  /// Seconds per step in the codec's kernels, measured on the slowest rank, above 0; replaces
  /// `codecs`.
  std::optional<double> coding_s{};
  std::string optimizer = "sgd";
  bool momentum = true;                    // whether sgd has momentum
  bool unfused = false;                    // whether each tensor's update is launched separately
  std::string engine{};                    // empty: the engine is chosen by predict/engine_choice.h
  std::optional<std::string> algorithm{};  // of collectives; empty: that of cluster and engine
  /// Steps in the record, rounded up to whole periods of the strategy.
  plan::Step steps = 10;
  cluster::Noise noise{};
  std::optional<cluster::Machine> machine{};  // if set, it replaces the cluster's links
  MeasuredCosts measured{};
  /// The collective and layer times from which a measured run made its plan.  They replace the
  /// times that a planner would get from the costs of this request.
  std::optional<records::PlannerTimes> planned_by{};
  std::shared_ptr<const CostTable> costs{};  // null: shipped_costs()
  /// Keeps compiled jobs for later requests; null: none are kept.
  simulator::JobCache* jobs = nullptr;

  int micro_batches_of_rate() const {
    return micro_batches_of_measured_rate > 0 ? micro_batches_of_measured_rate : accumulate;
  }
  const CostTable& cost_table() const { return costs ? *costs : shipped_costs(); }
};

/// Returns the costs of a prediction as text, so that predictions of one job with other costs are
/// other cases:
///
///   two nodes; ring; noise 0.05; device 500 samples/s; prices 5e8a1c02; layers 0b1d6f93
///
/// The text has the cluster's name; the algorithm of collectives, unfused updates, the noise and
/// the rate of the device, if they were given; a hash of all constants of the
/// links, of the device and of costs in a user's file; a hash of corrections by measured figures;
/// and a hash of measured layer times.  The record has the hosts and the engine elsewhere.  Empty
/// if the request has a machine of its own in place of the cluster's.
std::string priced_on(const PredictRequest& request);

/// Throws UsageError if the batch size is not a multiple of the number of micro-batches, or if
/// there are several micro-batches and embedding tables.
void check_batch(const PredictRequest& request);

/// Throws UsageError for fewer than 3 steps, and for more steps than a record can hold
/// (kMostSamples).
void check_steps(const PredictRequest& request);

}  // namespace paceline::predict
