// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "paceline/plan/cluster.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/strategy.h"
#include "paceline/record/configuration.h"

namespace paceline::cli {

/// The plans of cases, for --dry-run: traces each network once, with two
/// samples, and starts nothing.
class CasePlans {
 public:
  /// Planners take the fits of `cluster`, which `file` describes, if any does.
  CasePlans(const std::optional<plan::Cluster>& cluster,
            const std::string& file);

  /// Wire bytes per rank and step, calls, rounds, extra memory, and the plan
  /// of rank 0 after the warm-up, one line an operation.
  std::string describe(const record::Configuration& configuration);

 private:
  const plan::ModelShape& shape_of(const record::Configuration& configuration);

  std::optional<plan::AlphaBeta> fits_for(
      const record::Configuration& configuration,
      const plan::StrategySpec& strategy) const;

  std::string file_;
  std::optional<plan::Cluster> cluster_;
  std::map<std::string, plan::ModelShape> shapes_;  // by network and options
  std::map<std::string, std::string> shown_;        // plan text to its case
};

}  // namespace paceline::cli
