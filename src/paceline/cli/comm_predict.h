// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/cluster/cluster_choice.h"

namespace paceline::cli {

/// The flags of `paceline comm --predict`.
struct CommPredictRequest {
  cluster::ClusterChoice cluster;
  std::vector<int> ranks;  // empty: all slots
  std::vector<std::string> operations;
  std::vector<std::int64_t> sizes;
  std::string engine;  // auto: that of the cluster's fits, else nccl
  std::string format;  // table or markdown
};

/// Prints the modelled time and bandwidths of each operation by size, as nccl-tests does.  Beside
/// them it prints measured times, from those fits of the cluster file that are for the same number
/// of ranks.  Returns the exit code.
int predict_comm(const CommPredictRequest& request);

}  // namespace paceline::cli
