// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/cluster/cluster_choice.h"

namespace paceline::cli {

/// What the flags of `paceline comm --predict` ask for.
struct CommPredictRequest {
  cluster::ClusterChoice cluster;
  std::vector<int> ranks;  // numbers of ranks; empty: all slots of the cluster
  std::vector<std::string> operations;
  bool names_operations = false;  // whether the user named the operations
  std::vector<std::int64_t> sizes;
  std::string engine;  // auto: that of the cluster's fits, else nccl
  std::string format;  // of report::output_formats()
};

/// Prints the modelled time and bandwidths of each operation by size, as nccl-tests does. If the
/// cluster has a fit that was measured with the same number of ranks, the table shows the engine's
/// model without that fit, and beside it the time of the fit. Otherwise it shows the time that
/// `paceline predict` uses. Returns the exit code.
int predict_comm(const CommPredictRequest& request);

}  // namespace paceline::cli
