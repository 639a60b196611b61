// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "paceline/base/random.h"
#include "paceline/records/run_record.h"

// Run records as a fit wants them: cases of one job, which differ in ranks and
// strategy alone.

namespace paceline::predict {

/// One run of a case, seconds.
struct MeasuredRun {
  std::vector<double> steps;         // the slowest rank's, in order
  std::vector<double> compute_only;  // steps without communication
  double forward = 0, backward = 0;  // medians of the first rank; 0: unknown
};

struct MeasuredCase {
  records::Configuration configuration;
  std::vector<MeasuredRun> runs;
  std::optional<records::PlannedBy> planned_by;

  /// The median of the run medians.
  double step() const;
  double compute_only() const;  // 0: unknown

  /// This case as it might have been: runs drawn anew where there are
  /// stats::kFewestRuns of them, else blocks of steps inside each.
  MeasuredCase drawn(Random& random) const;
};

struct MeasuredJob {
  std::vector<MeasuredCase> one_rank;
  std::vector<MeasuredCase> several_ranks;  // smallest world first
  std::vector<records::Warning> warnings;

  const records::Configuration& common() const {
    return one_rank.front().configuration;
  }
};

/// Sorts records into cases.  Failed ones, and those whose strategy has no
/// plan, are left out with a warning.  Throws UsageError, one sentence, where
/// records differ in more than ranks and strategy, or where there is none of
/// one rank or none of more.
MeasuredJob measured_job_of(std::span<const records::RunRecord> records);

}  // namespace paceline::predict
