// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/report/scale.h"
#include "paceline/report/sheet.h"
#include "paceline/report/summary.h"

// Strategies against the rate of a modelled link, and where the fastest of
// them changes.

namespace paceline::report {

/// A strategy's case behind one link.
struct LinkPoint {
  double gbit_per_s = 0;
  const Row* row = nullptr;  // with a step time

  double step_s() const { return row->step_s->median.value; }
  bool valid() const { return !row->link_check || row->link_check->valid(); }
};

struct LinkCurve {
  std::string strategy;
  std::vector<LinkPoint> points;  // by rate; one a rate

  /// The valid case at this rate, if there is one.
  const LinkPoint* at(double gbit_per_s) const;
};

/// Cases that are equal in all but strategy, rate and stretch.  Of cases that
/// differ in their stretch alone, the most stretched of the valid ones counts.
struct LinkCurves {
  const Row* first = nullptr;    // the first of its cases
  std::int64_t latency_ns = 0;   // of every link
  std::vector<double> rates;     // Gbit/s, rising
  std::vector<LinkCurve> lines;  // in the order of the rows
};

/// Where another strategy becomes the fastest, between neighboring rates.
struct Crossing {
  double low = 0;  // Gbit/s
  double high = 0;
  const LinkCurve* below = nullptr;  // the fastest towards `low`
  const LinkCurve* above = nullptr;
  /// By straight lines over the logarithm of the rate through the medians at
  /// `low` and `high`; absent where one of these was not measured.
  std::optional<double> gbit_per_s;
  /// Whether the two strategies' intervals lie apart at both rates; absent
  /// where there is no interval.
  std::optional<bool> apart;
};

/// Of the cases behind links: what was measured at three rates or more with
/// two strategies or more.  Points into the table.
std::vector<LinkCurves> link_curves(const Table& table);

/// Among valid cases, by rising rate.  A strategy that is the fastest between
/// two rates alone has its crossings too.  Points into `curves`.
std::vector<Crossing> crossings_of(const LinkCurves& curves);

/// "resnet50, batch 16 per rank, 4 ranks, links of 20 us".
std::string facts_of(const LinkCurves& curves);

/// The crossings as a table; without lines where one strategy is the fastest
/// everywhere.
Sheet crossing_sheet(const LinkCurves& curves, const Scale& scale);

/// How to read the table, or what holds instead of a crossing.
std::string crossing_words(const LinkCurves& curves);

}  // namespace paceline::report
