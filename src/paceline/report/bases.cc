// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/bases.h"

namespace paceline::report {

void Bases::add(const std::optional<stats::Estimate>& estimate) {
  if (estimate && estimate->interval) {
    const bool runs = estimate->basis == stats::Basis::kRuns;
    (runs ? over_runs_ : within_run_) = true;
  }
}

std::string interval_words(const Bases& bases) {
  if (bases.mixed()) {
    return "95 % interval over repeated runs; where a * follows, from the "
           "steps inside the runs only: another run may lie outside (give "
           "--runs 3 or more)";
  }
  if (bases.within_run()) {
    return "95 % interval from the steps inside the runs; another run may lie "
           "outside (give --runs 3 or more)";
  }
  return bases.over_runs() ? "95 % interval over repeated runs" : "";
}

std::string whisker_words(const Bases& bases) {
  if (bases.mixed()) {
    return "A solid whisker is the 95 % interval over repeated runs; a dotted "
           "one (*) is from the steps inside the runs only: another run may "
           "lie outside.";
  }
  if (bases.within_run()) {
    return "A dotted whisker is the 95 % interval from the steps inside the "
           "runs; another run may lie outside.";
  }
  return bases.over_runs()
             ? "A whisker is the 95 % interval over repeated runs."
             : "";
}

}  // namespace paceline::report
