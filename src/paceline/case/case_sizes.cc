// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "paceline/case/experiment.h"
#include "paceline/case/outside.h"

namespace paceline::cases {

int largest_world(const Experiment& experiment) {
  int largest = 1;
  for (const Case& c : experiment.cases) {
    largest = std::max(largest, c.ranks);
  }
  return largest;
}

int most_processes(const Experiment& experiment) {
  int most = 1;
  for (const Case& c : experiment.cases) {
    most = std::max(most, processes_of(c));
  }
  return most;
}

}  // namespace paceline::cases
