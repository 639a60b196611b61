// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/predict/advise.h"

// Which measurement would say most of a predicted step.

namespace paceline::predict {

/// What could be measured, and how sure the asked step would then be.
struct NextMeasurement {
  std::string what;    // "one device", "one host", ...
  std::string figure;  // --measured "FIGURE", without its time; empty: collectives alone
  plan::Rank ranks = 0;
  bool is_asked = false;  // it is the asked step itself
  double reach = 0;       // how far the step lies above its interval's middle at most, a share
};

struct NextMeasurements {
  std::string strategy;                     // whose step is asked
  std::optional<double> reach_now{};        // empty: nothing is known of its error
  bool measured = false;                    // something was measured of the job
  std::vector<NextMeasurement> candidates;  // the narrowest interval first

  /// The first candidate, if the interval becomes narrower by it, by 5 % at least; else null.
  /// `short_of_asked`: the first that is not the asked step itself.
  const NextMeasurement* best(bool short_of_asked = false) const;
};

/// The interval of the request's step under `strategy` after each candidate: a step on one device,
/// on one host, on two, and on all hosts, with the job's batch; and a sweep of collectives alone,
/// where the fit has constants of links.
///
/// A figure is taken to be what is predicted, with the usual error of a figure
/// (MeasuredFit::if_measured); where nothing was measured, the first figure of a fit.  Measured
/// cases are left out.
NextMeasurements next_measurements(const AdviseRequest& request, const Advice& asked);

}  // namespace paceline::predict
