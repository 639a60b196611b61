// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/interval_kinds.h"

namespace paceline::report {

void IntervalKinds::add(const std::optional<stats::Estimate>& estimate) {
  if (estimate && estimate->interval) {
    const bool runs = estimate->basis == stats::Basis::kRuns;
    (runs ? over_runs_ : within_run_) = true;
  }
}

std::string interval_note(const IntervalKinds& kinds) {
  if (kinds.mixed()) {
    return "95 % interval over repeated runs; where a * follows, from the "
           "steps inside the runs only: another run may lie outside (give "
           "--runs 3 or more)";
  }
  if (kinds.within_run()) {
    return "95 % interval from the steps inside the runs; another run may lie "
           "outside (give --runs 3 or more)";
  }
  return kinds.over_runs() ? "95 % interval over repeated runs" : "";
}

}  // namespace paceline::report
