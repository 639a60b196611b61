// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

/// One case; its repetitions are one.
struct ComparedCase {
  std::string name{};  // strategy and ranks
  /// What a step took on its slowest rank: the median, or the mean over whole periods where a
  /// strategy's steps differ.
  double measured_s = 0;
  std::optional<double> predicted_s{};  // absent: `note` says why
  std::string note{};
};

struct Comparison {
  std::string network;  // what the predictions are for
  std::vector<ComparedCase> cases{};
  /// The largest error, and whether the measured order of the strategies is the predicted one.
  std::string conclusion;
};

/// Predicted step times beside the measured ones of `records`.
///
/// A case is predicted on `cluster`, which it ran on; one that replays a profile behind an emulated
/// link is predicted for such links alone.  Where nobody gives the rate of one device, it is that
/// of the case's steps without communication; where no profile has times of its codec, coding takes
/// what it took in the case.  Its note says so.  Nothing where no case has a described network.
std::optional<Comparison> compare_runs(std::span<const records::RunRecord> records,
                                       const std::optional<cluster::Cluster>& cluster);

}  // namespace paceline::predict
