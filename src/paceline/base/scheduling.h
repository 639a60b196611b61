// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace paceline {

/// What Linux does with a thread that wakes where another thread runs.
enum class Scheduling : std::uint8_t {
  /// The thread runs for 100 us at a time, and so begins soon where the other thread computes: the
  /// one with the shorter slice goes first (EEVDF, Linux
  /// 6.12 and newer; others ignore it).
  kShortSlice,
  /// SCHED_BATCH: the thread waits until the other one sleeps, or until a tick of the scheduler
  /// finds that one's slice over (4 ms with 250 ticks a second).
  kBatch,
};

/// A plan whose largest operation has more bytes leaves its threads of communication the system's
/// own scheduling.  Large operations overlap with long computing: a thread of Gloo that replaces
/// another one at once finds it holding the lock of a connection, and one that replaces the
/// training thread empties its caches for nothing (docs/performance.md).
constexpr std::int64_t kLargestScheduled = 8 << 20;

/// Until its destruction the calling thread, and for ever the threads that it starts meanwhile, are
/// scheduled so.  Where the kernel rejects, and in a thread that is neither SCHED_OTHER nor
/// SCHED_BATCH, nothing changes.
class ScopedScheduling {
 public:
  explicit ScopedScheduling(Scheduling scheduling);
  ~ScopedScheduling();
  ScopedScheduling(const ScopedScheduling&) = delete;
  ScopedScheduling& operator=(const ScopedScheduling&) = delete;

 private:
  std::uint32_t policy_ = 0;    // before
  std::uint64_t slice_ns_ = 0;  // before; 0: the system's own
};

/// The calling thread is woken within 1 us of its time from now on, not within the 50 us by which
/// the kernel is otherwise late to save wake-ups.
void tighten_timer_slack();

}  // namespace paceline
