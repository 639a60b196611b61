// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>

#include "paceline/execution/scheduler.h"

namespace paceline::execution {

/// An op that is late, and the time that has been waited for it.
struct OverdueOp {
  plan::OpRef op;
  std::chrono::nanoseconds waited{0};
};

/// Time limits for waits. S is the slowest recent step, at least `first_step`. A wait may last
/// max(timeout + S, 10 x S). A training thread that stands still without waiting for anything may
/// do so for max(training_timeout, 6 x S). A rank that hangs is therefore found before the ranks
/// that wait for it give up, even if their slowest step was a third shorter than its own and they
/// have already waited for most of a step when it begins to hang. With each step S decays by 1/32,
/// down to `first_step`, unless a step is slower.
///
/// All times come from the caller's clock, in ns.  The caller must hold a lock during each call.
class Deadlines {
 public:
  Deadlines(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_step,
            std::chrono::nanoseconds training_timeout = kNoLimit)
      : timeout_(timeout),
        training_timeout_(training_timeout),
        first_step_ns_(first_step.count()),
        slowest_step_ns_(first_step.count()) {}

  static constexpr std::chrono::nanoseconds kNoLimit = std::chrono::nanoseconds::max();

  /// Must be called at least once per second.  A longer gap means that the process itself was
  /// stopped (Ctrl-Z, a suspended machine): all waits then start anew, and the gap does not count
  /// as part of the step.
  void update_clock(std::int64_t now_ns);

  /// Reports that the training thread opens a step, which ends the step before.
  void begin_step(std::int64_t now_ns);
  /// Reports that the training thread has made progress in its step, from which its deadline is
  /// counted again.
  void progress(std::int64_t now_ns) {
    last_progress_ns_ = now_ns;
    last_moved_ns_ = now_ns;
  }
  /// Reports that the training thread has done all model work of its step.
  void end_step() { in_step_ = false; }

  bool in_step() const { return in_step_; }

  std::chrono::nanoseconds limit() const;

  /// Returns the time waited since `since_ns`, or since the process resumed if that was later.
  std::chrono::nanoseconds waited(std::int64_t since_ns, std::int64_t now_ns) const {
    return std::chrono::nanoseconds(now_ns - std::max(since_ns, resumed_ns_));
  }

  /// Must be called regularly. `held` says whether the training thread waits for other ranks or for
  /// the device, so that it is not to blame for standing still. Returns for how long the thread has
  /// made no progress, if that is too long.
  std::optional<std::chrono::nanoseconds> find_hang(bool held, std::int64_t now_ns);

  /// Returns a collective that has been in flight for too long. A collective that another owner
  /// than the executor issues is returned if the training thread has made no progress in its step
  /// for too long.
  std::optional<OverdueOp> find_overdue(const Scheduler& scheduler, std::int64_t now_ns) const;

 private:
  std::chrono::nanoseconds timeout_, training_timeout_;
  std::int64_t first_step_ns_, slowest_step_ns_;
  std::int64_t step_began_ns_ = -1;
  std::int64_t last_check_ns_ = -1, resumed_ns_ = 0;
  std::int64_t last_progress_ns_ = 0;
  std::int64_t last_moved_ns_ = 0;  // when the training thread last made progress, or was last seen
                                    // waiting for something else
  bool in_step_ = false;
};

/// The first error of a run, and whether the training thread has received it. The caller must hold
/// a lock during each call.
class FirstError {
 public:
  /// Sets the error if none is set: later errors are dropped.
  void set(const std::exception_ptr& error, std::int64_t now_ns);
  bool is_set() const { return error_ != nullptr; }

  /// Throws the error if there is one; it then counts as thrown.
  void rethrow_if_set();

  /// Returns the error, once, if it was not thrown within `grace`; else null.
  std::exception_ptr take_unthrown(std::int64_t now_ns, std::chrono::nanoseconds grace);

 private:
  std::exception_ptr error_;
  std::int64_t at_ns_ = 0;
  bool thrown_ = false;
};

}  // namespace paceline::execution
