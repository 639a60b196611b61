// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "paceline/cluster/cluster.h"
#include "paceline/plan/plan_input.h"
#include "paceline/records/configuration.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cli {

/// The plans of cases, for --dry-run: traces each network once, with two samples, and starts
/// nothing.
class CasePlans {
 public:
  /// Planners take the fits of `cluster`, which `file` describes, if any does.
  CasePlans(const std::optional<cluster::Cluster>& cluster, const std::string& file);

  /// Wire bytes per rank and step, calls, rounds, extra memory, and the plan
  /// of rank 0 after the warm-up, one line an operation.
  std::string describe(const records::Configuration& configuration);

 private:
  const plan::ModelShape& shape_of(const records::Configuration& configuration);

  std::optional<plan::AlphaBeta> fits_for(const records::Configuration& configuration,
                                          const strategies::StrategySpec& strategy) const;

  std::string file_;
  std::optional<cluster::Cluster> cluster_;
  std::map<std::string, plan::ModelShape> shapes_;  // by network and options
  std::map<std::string, std::string> shown_;        // plan text to its case
};

}  // namespace paceline::cli
