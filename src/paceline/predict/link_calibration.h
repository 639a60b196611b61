// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/predict/engines.h"
#include "paceline/stats/interval.h"

// Fits the constants of an engine's model of collectives on one link to measured times.

namespace paceline::predict {

/// A measured time of a collective.
struct MeasuredTime {
  cluster::CollectiveCall call;
  double seconds = 0;
};

struct LinkToCalibrate {
  cluster::LinkScope scope{};
  bool rate_is_given = false;  // true: the rate is given; false: the rate is fitted too
  std::string engine;
};

/// A constant of the model that the measured times determine.
struct FittedConstant {
  std::string name;              // one of: rate, share, base, hop, latency
  double value = 0, before = 0;  // after and before the fit, in SI units
  stats::Interval interval{};    // the 95 % interval
};

/// The result of the fit of one link.
struct CalibratedLink {
  std::string name;
  std::vector<FittedConstant> constants{};
  std::vector<std::string> undetermined{};  // names of constants that the times say nothing of
  std::size_t points = 0;
  double mean_error = 0, worst_error = 0;  // relative errors of the modelled times
};

/// Fits the constants of the engine's model of collectives to `times`, which were measured over the
/// link `of`, and puts them with a calibration into that link of `cluster`.  The alpha-beta fits of
/// the link are not used.
///
///   engine nccl  share of the link's rate (where that is not given: the rate), base latency, hop
///   others       rate and latency of the link
///
/// A fitted rate is at least what each time needs for the fewest bytes that an algorithm moves.
///
/// A constant is determined if the times halve its standard deviation.  Other constants keep their
/// values, and the fit leaves them out.  A latency must be determined both at its fitted value and
/// at its value before the fit.  The error for each doubling of the ranks comes from
/// cross-validation: the times on each number of ranks are predicted from the others.  Throws
/// UsageError if a time is shorter than the given rate allows, if the times do not determine a rate
/// that is not given, and if the model fitted to a link with a given rate misses the times by a
/// factor of 1.5 (root mean square).
CalibratedLink calibrate_link(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                              cluster::Cluster& cluster);

/// Returns the number of doublings or halvings that bring the value into the range; 0 if it is
/// inside.
inline double doublings(double value, double least, double most) {
  return std::max({0.0, std::log2(value / most), std::log2(least / value)});
}

/// The number of standard deviations around the mean within which nine of ten values of a normal
/// distribution lie.
inline constexpr double kDeviationsOf90Percent = 1.645;

}  // namespace paceline::predict
