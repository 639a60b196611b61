// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace paceline {

/// How Linux treats a thread that wakes while another thread runs on its core.
enum class Scheduling : std::uint8_t {
  /// The thread has a time slice of 100 us, and therefore runs soon although the other thread
  /// computes: the thread with the shorter slice goes first (EEVDF, Linux 6.12 and newer; older
  /// kernels ignore this).
  kShortSlice,
  /// SCHED_BATCH: the thread waits until the other thread sleeps, or until a tick of the scheduler
  /// finds the other thread's slice over (4 ms with 250 ticks a second).
  kBatch,
  /// The thread keeps its scheduling.
  kUnchanged,
};

/// If a plan's largest operation has more bytes than this, its communication threads keep the
/// system's default scheduling.  Large operations overlap with long computation: if a Gloo thread
/// preempts another Gloo thread, that one may hold the lock of a connection, and if it preempts the
/// training thread, it evicts that thread's caches for nothing (docs/performance.md).
constexpr std::int64_t kLargestScheduledBytes = 8 << 20;

/// Returns `scheduling` for threads whose largest operation has at most kLargestScheduledBytes
/// bytes, and kUnchanged for others.
constexpr Scheduling scheduling_of(std::int64_t largest_operation, Scheduling scheduling) {
  return largest_operation <= kLargestScheduledBytes ? scheduling : Scheduling::kUnchanged;
}

/// Sets the scheduling of the calling thread until this object is destroyed, and for good that of
/// the threads it starts meanwhile.  Changes nothing if the kernel refuses, or in a thread that is
/// neither SCHED_OTHER nor SCHED_BATCH.
class ScopedScheduling {
 public:
  explicit ScopedScheduling(Scheduling scheduling);
  ~ScopedScheduling();
  ScopedScheduling(const ScopedScheduling&) = delete;
  ScopedScheduling& operator=(const ScopedScheduling&) = delete;

 private:
  std::uint32_t policy_ = 0;    // the policy before construction
  std::uint64_t slice_ns_ = 0;  // the slice before construction; 0: the system's default
};

/// From now on the calling thread is woken within 1 us of its time, instead of the 50 us by which
/// the kernel delays wake-ups by default.
void tighten_timer_slack();

}  // namespace paceline
