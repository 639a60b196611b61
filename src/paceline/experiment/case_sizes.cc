// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "paceline/experiment/experiment.h"
#include "paceline/experiment/outside.h"

namespace paceline::experiment {

using records::Configuration;

int largest_world(const Experiment& experiment) {
  int largest = 1;
  for (const Configuration& c : experiment.cases) {
    largest = std::max(largest, c.ranks);
  }
  return largest;
}

int most_processes(const Experiment& experiment) {
  int most = 1;
  for (const Configuration& c : experiment.cases) {
    most = std::max(most, processes_of(c));
  }
  return most;
}

}  // namespace paceline::experiment
