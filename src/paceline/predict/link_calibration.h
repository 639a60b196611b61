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
  bool rate_is_given = false;  // else the rate is a constant that is fitted
  std::string engine;
};

/// A constant of the model that the measured times determine.
struct FittedConstant {
  std::string name;              // rate, share, base, hop, latency
  double value = 0, before = 0;  // SI
  stats::Interval interval{};    // of 95 %
};

/// The result of the fit of one link.
struct CalibratedLink {
  std::string name;
  std::vector<FittedConstant> constants{};
  std::vector<std::string> undetermined{};  // names of constants that the times say nothing of
  std::size_t points = 0;
  double mean_error = 0, worst_error = 0;  // of the model, shares of a time
};

/// Fits the constants of the engine's model to `times`, which are of the link's scope, and puts
/// them into that link of `cluster`, whose fits are not used, with a calibration.
///
///   engine nccl  share of the link's rate (where that is not given: the rate), base latency, hop
///   others       rate and latency of the link
///
/// A fitted rate is at least what each time needs for the fewest bytes that an algorithm moves.
///
/// A constant whose standard deviation the times do not reduce to half of what it is before them is
/// not determined: it keeps its value, and the others are fitted without it.  This holds for
/// latencies both at their fitted values and at those before the times.  The error for each
/// doubling of the ranks is that with which the other numbers of ranks predict each one.  Throws
/// UsageError where a time is shorter than the given rate allows, where the times do not determine
/// a rate that is not given, and where the model fitted to a link whose rate is given misses the
/// times by a factor of 1.5 (root mean square).
CalibratedLink calibrate_link(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                              cluster::Cluster& cluster);

/// Returns how often the value must be doubled or halved to come into the range; 0 if it is inside.
inline double doublings(double value, double least, double most) {
  return std::max({0.0, std::log2(value / most), std::log2(least / value)});
}

/// Nine of ten values of a normal distribution are within this number of standard deviations.
inline constexpr double kNineOfTen = 1.645;

}  // namespace paceline::predict
