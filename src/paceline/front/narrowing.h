// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"

// Repetitions of the cases of a run until each case's interval is narrow.

namespace paceline::front {

/// What ends the repetitions.
struct Narrowing {
  double within = 0;   // each interval lies within this share of its figure
  int most_runs = 50;  // of a case
  std::optional<std::chrono::milliseconds> time{};  // after which none begins
};

/// How far the figure of one case may be off.
struct CaseWidth {
  std::string key;   // of its configuration
  std::string name;  // unique among the cases
  std::size_t runs = 0;
  int next_run = 0;     // the number of its next repetition
  bool failed = false;  // its last repetition has
  double median_s = 0;  // of the runs' median steps; 0: there are none
  /// The end of the interval that is farther from the center, as a share of it; infinite where
  /// there are too few runs.
  double half_width = 0;
};

/// The widths of all cases.  An interval is the confidence sequence of the mean logarithm of the
/// median steps of a case's runs (stats/sequential.h), so that it holds however many runs its width
/// has asked for.
std::vector<CaseWidth> widths_of(std::span<const records::RunRecord> records);

/// The case to repeat next: the widest of those that are too wide and may be run again, of equally
/// wide ones the one with fewest runs; null: none.
const CaseWidth* widest(std::span<const CaseWidth> widths, const Narrowing& wanted);

/// What became of the cases, in one sentence: how wide the widest is, and how many are too wide
/// still.
std::string narrowing_text(std::span<const CaseWidth> widths, const Narrowing& wanted);

}  // namespace paceline::front
