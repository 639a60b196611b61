// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

/// One case with all its repetitions.
struct ComparedCase {
  std::string name{};  // the case's strategy and ranks
  /// The time of a step on its slowest rank: the median, or, if the steps of a period differ by
  /// their plans, the mean over whole periods.
  double measured_s = 0;
  std::optional<double> predicted_s{};  // absent: `note` says why
  bool valid = false;                   // predicted, and an emulated link kept up
  std::string note{};
};

struct Comparison {
  std::string network;  // the links that the predictions assume, as text
  std::vector<ComparedCase> cases{};
  std::string conclusion{};  // the largest error
};

/// Compares predicted step times with the measured ones of `records`.
///
/// A case is predicted on `cluster`, on which it ran.  A case that replays a profile over an
/// emulated link is predicted for that link alone.  If neither a profile nor a throughput gives the
/// compute time of one device, the case's own steps without communication give it.  If no profile
/// has times of the case's codec, its measured coding time is used.  The case's note states both.
/// Returns nothing if no case can be predicted in one of these two ways.
std::optional<Comparison> compare_runs(std::span<const records::RunRecord> records,
                                       const std::optional<cluster::Cluster>& cluster);

}  // namespace paceline::predict
