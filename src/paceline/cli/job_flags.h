// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/cluster/cluster_choice.h"
#include "paceline/predict/predict_request.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace paceline::cli {

/// --cluster, -H and --hostfile, as `paceline run` has them.
void add_cluster_flags(CLI::App& app, cluster::ClusterChoice& choice);

/// The words that give these flags again.
std::vector<std::string> cluster_words(const cluster::ClusterChoice& choice);

/// Whether `model` is a profile's path, not a built-in network's name.
bool names_profile(const std::string& model);

/// Whether the network looks up embedding tables.
bool has_tables(const std::string& model);

/// The flags that describe a job on a cluster, for whoever predicts one.
class JobFlags {
 public:
  /// Adds them to the subcommand `app`.
  explicit JobFlags(CLI::App& app);

  /// The job, but for its ranks: the network called so, or the one that a file
  /// profiles, with its times and, where no flag names one, its batch.  Throws
  /// UsageError where the batch is another one and no rate of a device tells
  /// how fast that would be.
  predict::PredictRequest request() const;

  /// Worlds that were asked for; all slots where none was.  Throws UsageError.
  std::vector<plan::Rank> worlds(const cluster::Cluster& cluster) const;

  const std::string& model() const { return model_; }
  const cluster::ClusterChoice& cluster() const { return cluster_; }
  const std::vector<int>& ranks() const { return ranks_; }
  const std::optional<int>& batch_size() const { return batch_size_; }

  /// Excludes the flags whose values records state from beside the flag that
  /// names `records`.
  void exclude_beside(CLI::Option& records);

 private:
  bool unfused_ = false;
  std::string model_, optimizer_ = "sgd", engine_, engine_costs_, algorithm_;
  cluster::ClusterChoice cluster_;
  std::vector<int> ranks_;
  std::optional<int> batch_size_;
  std::optional<double> device_rate_;
  std::vector<CLI::Option*> of_records_;  // what records say themselves
};

}  // namespace paceline::cli
