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
  bool names_operations = false;  // whether the user named them
  std::vector<std::int64_t> sizes;
  std::string engine;  // auto: that of the cluster's fits, else nccl
  std::string format;  // of report::output_formats()
};

/// Prints the modelled time and bandwidths of each operation by size, as nccl-tests does.  Where
/// the cluster has a fit of as many ranks, the time is that of the engine's model, with the fit's
/// beside it; else it is what `paceline predict` takes.  Returns the exit code.
int predict_comm(const CommPredictRequest& request);

}  // namespace paceline::cli
