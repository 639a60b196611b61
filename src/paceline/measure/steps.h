// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace paceline::measure {

/// The time of the training thread in one step, nanoseconds.
struct StepTimes {
  std::int64_t began_ns = 0;     // start of forward, monotonic clock
  std::int64_t forward_ns = 0;   // without the wait at gates
  std::int64_t backward_ns = 0;  // without the wait at gates
  std::int64_t wait_ns = 0;      // at gates
  std::int64_t ended_ns = 0;     // backward returned
  std::int64_t data_ns = 0;      // for the batch, where it is read
  std::int64_t examples = 0;     // 0: the configuration's batch
};

/// A forward or backward of the training thread, waits included.
struct PhaseSpan {
  bool forward = true;
  std::int64_t step = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

/// A training job that is timed.
class TimedJob {
 public:
  virtual ~TimedJob() = default;

  /// One training step.  Operations that the plan allows to cross the step
  /// border may still be in flight when it returns.
  virtual StepTimes step() = 0;

  /// Waits for all operations in flight.
  virtual void drain() = 0;

  /// Marks the moment at which the device will have finished its queued work;
  /// on a CPU that is now.  The host does not wait for it.
  virtual void mark() = 0;

  /// The times of all marks since the last call, in nanoseconds after the
  /// first of them.  Waits for the device.
  virtual std::vector<std::int64_t> take_marks() = 0;
};

}  // namespace paceline::measure
