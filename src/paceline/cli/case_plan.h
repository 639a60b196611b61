// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "paceline/plan/plan_input.h"
#include "paceline/record/configuration.h"

namespace paceline::cli {

/// The plans of cases, for --dry-run: traces each network once, with two
/// samples, and starts nothing.
class CasePlans {
 public:
  /// Wire bytes per rank and step, calls, rounds, extra memory, and the plan
  /// of rank 0 after the warm-up, one line an operation.
  std::string describe(const record::Configuration& configuration);

 private:
  const plan::ModelShape& shape_of(const record::Configuration& configuration);

  std::map<std::string, plan::ModelShape> shapes_;  // by network and options
  std::map<std::string, std::string> shown_;        // plan text to its case
};

}  // namespace paceline::cli
