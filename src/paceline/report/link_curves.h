// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "paceline/cluster/link_spec.h"
#include "paceline/report/summary.h"
#include "paceline/report/table.h"
#include "paceline/report/value_format.h"

// Strategies against the rate of an emulated link, and where the fastest of them changes.

namespace paceline::report {

/// A strategy's case behind one link.
struct LinkPoint {
  double gbit_per_s = 0;
  const CaseSummary* row = nullptr;  // with a step time

  double step_s() const { return row->step_s->median.value; }
  bool valid() const { return row->valid(); }
};

struct LinkCurve {
  std::string strategy;
  std::string name;               // its label; the strategy where it is not the only one
  std::vector<LinkPoint> points;  // by rate; one a rate

  /// The valid case at this rate, if there is one.
  const LinkPoint* at(double gbit_per_s) const;
};

/// Cases that are equal in all but strategy, link and stretch.  Links of one rate have one latency:
/// where they have several, each latency has curves of its own.  Of cases that differ in their
/// stretch alone, the most stretched of the valid ones counts.
struct LinkCurves {
  const CaseSummary* first = nullptr;  // the first of its cases
  std::set<std::int64_t> latencies_ns;
  std::vector<double> rates;     // Gbit/s, rising
  std::vector<LinkCurve> lines;  // in the order of the rows
};

/// Where another strategy becomes the fastest, between neighboring rates.
struct Crossover {
  double low = 0;  // Gbit/s
  double high = 0;
  const LinkCurve* below = nullptr;  // the fastest towards `low`
  const LinkCurve* above = nullptr;
  /// By straight lines over the logarithm of the rate through the medians at
  /// `low` and `high`; absent where one of these was not measured.
  std::optional<double> gbit_per_s;
  /// Whether the two strategies' intervals lie apart at both rates; absent where there is no
  /// interval.
  std::optional<bool> apart;
};

/// The emulated link of a case; absent where there is none, or the text, which records of others
/// may hold, is no link.
std::optional<cluster::LinkSpec> link_of(const records::Configuration& configuration);

double gbit_per_s(const cluster::LinkSpec& link);

/// The curves of the group's cases behind links: one for all cases that were measured at three
/// rates or more with two strategies or more.  The result points into `group`.
std::vector<LinkCurves> link_curves(const GroupSummary& group);

/// Among valid cases, by rising rate.  A strategy that is the fastest between two rates alone has
/// its crossovers too.  Points into `curves`.
std::vector<Crossover> crossovers_of(const LinkCurves& curves);

/// "resnet50, batch 16 per rank, 4 ranks, latency 20 us", or "latency 2 to
/// 50 us".
std::string describe(const LinkCurves& curves);

/// The crossovers as a table with how to read it below; without rows where one strategy is the
/// fastest at every rate.  Between rates at one of which an INVALID case was faster than every
/// valid one, a row says that nothing is known.
Table crossover_table(const LinkCurves& curves, const ValueFormat& format);

}  // namespace paceline::report
