// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/record/configuration.h"

namespace paceline::experiment {

/// A sweep: its name and its cases in the order of the table.
struct Experiment {
  std::string name;
  std::vector<record::Configuration> cases;
  int runs = 1;  // repetitions, each in fresh processes where possible
};

}  // namespace paceline::experiment
