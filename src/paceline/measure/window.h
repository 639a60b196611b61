// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>

#include "paceline/measure/steps.h"
#include "paceline/records/run_record.h"

namespace paceline::measure {

/// For another thread, to read a window of which a step hangs.  While `mutex`
/// is held the window adds nothing.
struct WindowAccess {
  std::mutex mutex;
  /// The samples of all whole steps; null while no window runs.
  std::function<records::RankSamples()> take{};
  /// What WindowOptions::interrupted does; null while no window runs.
  std::function<void(records::RankSamples)> tell{};
};

struct WindowOptions {
  int warmup = 5;
  int steps = 10;
  bool sync_each_step = false;
  bool reads_data = false;  // its time is a phase
  /// Called before the warm-up.  Not after it, because operations that the last
  /// warm-up step leaves in flight belong to the first measured step.
  std::function<void()> barrier{};
  /// Called after every step with the number done; may throw to stop.
  std::function<void(int done, int total)> progress{};
  /// Called with the samples of all whole steps before an error leaves, or a
  /// wish to stop, which ends ranks that live on when another one has failed.
  std::function<void(records::RankSamples)> interrupted{};
  WindowAccess* access = nullptr;  // may be null
};

/// Runs warm-up and measured steps.  A step's time runs from the start of its
/// forward to the start of the next one's, so a schedule that crosses the step
/// border is timed fairly: what the first step inherits from the warm-up, the
/// last one leaves to the flush.
records::RankSamples measure(TimedJob& job, const WindowOptions& options);

}  // namespace paceline::measure
