// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/predict/measured_figure.h"
#include "paceline/predict/predict_request.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace paceline::cli {

/// Adds --cluster, -H and --hostfile with the meaning that they have in `paceline run`.
void add_cluster_flags(CLI::App& app, cluster::ClusterChoice& choice);

/// The words of a command line that repeat these flags.
std::vector<std::string> cluster_words(const cluster::ClusterChoice& choice);

/// Whether `model` is a profile's path, not a built-in network's name.
bool is_profile_path(const std::string& model);

/// Whether the network has embedding tables.
bool has_tables(const std::string& model);

/// The flags that describe a job on a cluster, for the commands that predict jobs.
class JobFlags {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit JobFlags(CLI::App& app);

  /// Returns the job, except for its number of ranks. Its network is built in or comes from a
  /// profile. A profile also gives the layer times, and the batch size if no flag gives one. Throws
  /// UsageError if the batch size is not the profile's, and no device rate gives the speed at other
  /// sizes.
  /// `measured` holds measurements of the job. Their records give the values that no flag gives.
  /// Throws UsageError if a flag contradicts the records.
  predict::PredictRequest request(const predict::MeasuredRecords* measured = nullptr) const;

  /// The numbers of ranks that --ranks gives, or all slots of the cluster if it gives none. Throws
  /// UsageError for repeated numbers.
  std::vector<plan::Rank> worlds(const cluster::Cluster& cluster) const;

  /// The network's name or profile, the first one of two profiles; empty if no flag gives it.
  const std::string& model() const { return model_; }
  /// The profile of the same network at another batch size; empty if not given.
  const std::string& second_profile() const { return second_profile_; }
  const cluster::ClusterChoice& cluster() const { return cluster_; }
  const std::vector<int>& ranks() const { return ranks_; }
  const std::optional<int>& batch_size() const { return batch_size_; }

  /// Makes --device-rate and the option `measured` exclude each other, because measurements
  /// determine the device rate too.
  void make_exclusive_with(CLI::Option& measured);

 private:
  void resolve_model_flags();
  /// Throws UsageError for several models that are not two profiles.
  void check_models() const;
  std::string network_of(const cases::Case* recorded) const;
  void apply_recorded_case(const cases::Case& recorded, predict::PredictRequest& request) const;
  bool names_cluster() const;

  bool unfused_ = false;
  std::vector<std::string> models_;  // values of --model
  std::string model_, second_profile_, optimizer_, engine_, engine_costs_, algorithm_;
  cluster::ClusterChoice cluster_;
  std::vector<int> ranks_;
  std::optional<int> batch_size_, accumulate_, sequence_length_;
  std::string dtype_;
  std::optional<double> device_rate_;
  CLI::Option* rate_ = nullptr;  // the option --device-rate
};

}  // namespace paceline::cli
