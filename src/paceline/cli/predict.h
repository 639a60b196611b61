// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "paceline/plan/cluster_choice.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline predict MODEL --cluster FILE`: the job's plan, executed in virtual
/// time on the described cluster.  Starts nothing.
class PredictCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit PredictCommand(CLI::App& app);

  /// After the parsing.  Prints the prediction; returns the exit code.
  int run() const;

 private:
  plan::ClusterChoice cluster_;
  std::string model_, strategy_ = "fusion", optimizer_ = "sgd",
                      engine_ = "nccl", algorithm_, format_ = "table", trace_,
                      records_;
  int ranks_ = 0, batch_size_ = 0, steps_ = 10;
  double bucket_mb_ = 25, device_rate_ = 0;
  double sigma_ = 0, straggler_probability_ = 0, straggler_factor_ = 1;
  std::uint64_t seed_ = 0;
};

}  // namespace paceline::cli
