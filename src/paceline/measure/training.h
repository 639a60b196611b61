// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "paceline/measure/steps.h"
#include "paceline/records/run_record.h"

namespace paceline::measure {

struct TrainingOptions {
  int warmup = 0;
  int steps = 10;
  int evaluate_every = 50;
  /// Called before the first step, as the barrier of measure(), and after each
  /// later evaluation: they wait for all ranks.
  std::function<void()> begin{};
  std::function<void(int done)> align{};
  /// Called between steps, with nothing in flight.
  std::function<records::Evaluation()> evaluate{};
  std::function<std::int64_t()> sent_bytes{};  // so far
  /// Called after every step with the number done; may throw to stop.
  std::function<void(int done, int total)> progress{};
};

/// Trains, and evaluates before the first step, after every `evaluate_every`,
/// and after the last.  The times of steps are those of measure(), with what is
/// in flight before an evaluation in the step before it; evaluations are not in
/// them.
records::RankSamples train(TimedJob& job, const TrainingOptions& options);

}  // namespace paceline::measure
