// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/predict/advise.h"

// Finds the measurement that would narrow the interval of a predicted step most.

namespace paceline::predict {

/// A possible measurement, and the interval of the predicted step after it.
struct NextMeasurement {
  std::string what;    // where to measure: "one device", "one host", ...
  std::string figure;  // --measured "FIGURE" without its time; empty: only collectives
  plan::Rank ranks = 0;
  bool is_asked = false;  // whether it measures the predicted step itself
  double half_width = 0;  // upper end of the interval over the step, minus 1
};

struct NextMeasurements {
  std::string strategy;  // strategy of the step that is to be predicted
  std::optional<double>
      present_half_width{};  // the same without a further measurement; empty: unknown
  bool measured = false;     // whether the job already has measurements
  std::vector<NextMeasurement> candidates;  // sorted from the narrowest interval on

  /// Returns the first candidate if it makes the interval at least 5 % narrower; else null.  With
  /// `skip_asked`, skips the candidate that measures the predicted step itself.
  const NextMeasurement* best(bool skip_asked = false) const;
};

/// Returns the interval of the request's step under `asked`'s strategy after each candidate: a step
/// on one device, on one host, on two, and on all hosts, with the job's batch; and a sweep of
/// collectives alone, if the fit has unknowns of links.
///
/// The result of a measurement is taken to be the predicted step, with the usual error of a figure
/// (MeasuredFit::if_measured).  If nothing was measured, it is the first figure of a fit.  Cases
/// that have been measured are left out.
NextMeasurements next_measurements(const AdviseRequest& request, const Advice& asked);

}  // namespace paceline::predict
