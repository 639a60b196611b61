// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/cluster/cluster_choice.h"
#include "paceline/predict/measured_figure.h"
#include "paceline/predict/predict_request.h"
#include "paceline/records/configuration.h"

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

  /// The job, but for its ranks: the network called so, or the one that a file profiles, with its
  /// times and, where no flag names one, its batch.  Throws UsageError where the batch is another
  /// one and no rate of a device tells how fast that would be.
  /// `measured`: figures of the job, whose records say what no flag does;
  /// throws UsageError where a flag says otherwise.
  predict::PredictRequest request(const predict::MeasuredRecords* measured = nullptr) const;

  /// Worlds that were asked for; all slots where none was.  Throws UsageError.
  std::vector<plan::Rank> worlds(const cluster::Cluster& cluster) const;

  /// Empty where no flag names one; the first of two profiles.
  const std::string& model() const { return model_; }
  /// Of the same network at another batch; empty: there is none.
  const std::string& second_profile() const { return second_profile_; }
  const cluster::ClusterChoice& cluster() const { return cluster_; }
  const std::vector<int>& ranks() const { return ranks_; }
  const std::optional<int>& batch_size() const { return batch_size_; }

  /// Excludes --device-rate from beside `measured`, which says it too.
  void exclude_beside(CLI::Option& measured);

 private:
  void take_models();
  /// Throws UsageError for several models that are not two profiles.
  void check_models() const;
  std::string network_of(const records::Configuration* recorded) const;
  void put_recorded(const records::Configuration& recorded, predict::PredictRequest& request) const;
  bool names_cluster() const;

  bool unfused_ = false;
  std::vector<std::string> models_;  // as given
  std::string model_, second_profile_, optimizer_, engine_, engine_costs_, algorithm_;
  cluster::ClusterChoice cluster_;
  std::vector<int> ranks_;
  std::optional<int> batch_size_, accumulate_, sequence_length_;
  std::string dtype_;
  std::optional<double> device_rate_;
  CLI::Option* rate_ = nullptr;  // --device-rate
};

}  // namespace paceline::cli
