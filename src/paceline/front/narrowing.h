// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"

// Repeats the cases of a run until each case's interval is narrow.

namespace paceline::front {

/// The interval width at which the repetition of cases ends, and the limits of the repetitions.
struct NarrowingOptions {
  double within = 0;   // limit of the half width of a case's confidence interval, as a fraction of
                       // its center
  int most_runs = 50;  // largest number of runs of one case
  std::optional<std::chrono::milliseconds> time{};  // no repetition starts after this time
};

/// The width of the interval of one case's step time.
struct CaseWidth {
  std::string key;   // the key of its configuration
  std::string name;  // unique among the cases
  std::size_t runs = 0;
  int next_run = 0;     // the number of its next repetition
  bool failed = false;  // whether its last repetition failed
  double median_s = 0;  // median of the runs' median steps; 0: there are none
  /// The distance between the center of the interval and its farther end, as a share of the center;
  /// infinite if there are too few runs.
  double half_width = 0;
};

/// Returns the widths of all cases.  An interval is the confidence sequence of the mean logarithm
/// of the median steps of a case's runs (stats/sequential.h).  It holds for any number of runs,
/// even if the width decides on that number.
std::vector<CaseWidth> widths_of(std::span<const records::RunRecord> records);

/// Returns the case to repeat next: of those that are too wide and may run again, the widest; of
/// equally wide ones, the one with the fewest runs; null if there is none.
const CaseWidth* widest(std::span<const CaseWidth> widths, const NarrowingOptions& wanted);

/// Describes the result in one sentence: how wide the widest case is, and how many cases are still
/// too wide.
std::string interval_width_text(std::span<const CaseWidth> widths, const NarrowingOptions& wanted);

}  // namespace paceline::front
