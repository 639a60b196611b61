// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "paceline/measure/steps.h"
#include "paceline/records/run_record.h"

namespace paceline::measure {

/// How steps with and without communication alternate.  A pair is a block of
/// `block_steps` steps with communication and one of as many without, next to
/// each other.  The order changes from pair to pair, so that a machine that
/// drifts favors neither side, and blocks of one kind that meet run on:
///
///   with | without without | with with | without without | ... | with
///
/// A run of such blocks starts from drained queues with two steps that are not
/// counted.  They line the ranks up, and bring a schedule that crosses the step
/// border into its steady state.
struct PairLayout {
  int pairs = 2;  // even
  int block_steps = 1;

  /// All steps, those that are not counted included.
  int total_steps() const;
  bool operator==(const PairLayout&) const = default;
};

/// Steps without communication before the first pair, which touch the memory.
inline constexpr int kColdSteps = 1;

/// About as many steps in all as a window of `steps` has; from 9 steps on at
/// least 4 pairs.
PairLayout pair_layout(int steps);

struct PairOptions {
  PairLayout layout;
  bool sync_each_step = false;
  /// Called before every run with communication; lines the ranks up.  A run
  /// without begins where the ranks' last operation has lined them up.
  std::function<void()> barrier{};
};

/// Measures the pairs into `samples`: `paired_step_ns`, `compute_only_step_ns`
/// and `pair_of_step`.  No queue of either job holds operations before or
/// after.  A rank without model work has no steps `without` communication
/// (null): it takes part in the others, and has no samples.
void measure_pairs(TimedJob& with,
                   TimedJob* without,
                   const PairOptions& options,
                   records::RankSamples& samples);

}  // namespace paceline::measure
