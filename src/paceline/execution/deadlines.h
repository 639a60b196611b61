// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>

#include "paceline/execution/scheduler.h"

namespace paceline::execution {

/// An op that is late, and for how long it has been waited for.
struct Overdue {
  plan::OpRef op;
  std::chrono::nanoseconds waited{0};
};

/// How long a wait may take: max(timeout + S, 10 x S), S being the slowest step of late, at least
/// `first_step`.  How long the training thread may stand still though nothing holds it:
/// max(training_timeout, 6 x S).  The rank that hangs is so found before the ranks that wait for it
/// give up, also where their slowest step was a third shorter than its own, and where they have
/// waited for most of a step when it begins to hang.  A slow step is forgotten by a 32nd with each
/// later one, down to `first_step`.
///
/// All times come from the caller's clock, in ns.  Calls need a lock around them.
class Deadlines {
 public:
  Deadlines(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_step,
            std::chrono::nanoseconds training_timeout = kNoLimit)
      : timeout_(timeout),
        training_timeout_(training_timeout),
        first_step_ns_(first_step.count()),
        slowest_step_ns_(first_step.count()) {}

  static constexpr std::chrono::nanoseconds kNoLimit = std::chrono::nanoseconds::max();

  /// To be called every second or more often.  A longer gap means that the process itself was
  /// stopped (Ctrl-Z, a suspended machine): what it waits for gets its time anew, and the step
  /// counts without the gap.
  void look(std::int64_t now_ns);

  /// The training thread opens a step, which ends the one before.
  void begin_step(std::int64_t now_ns);
  /// The training thread got ahead in its step.
  void progress(std::int64_t now_ns) {
    progress_ns_ = now_ns;
    moved_ns_ = now_ns;
  }
  /// The training thread has done all model work of its step.
  void end_step() { in_step_ = false; }

  bool in_step() const { return in_step_; }

  std::chrono::nanoseconds limit() const;

  /// How long is waited since `since_ns`, or since the process went on.
  std::chrono::nanoseconds waited(std::int64_t since_ns, std::int64_t now_ns) const {
    return std::chrono::nanoseconds(now_ns - std::max(since_ns, resumed_ns_));
  }

  /// To be called regularly: `held` says whether the training thread waits for something else than
  /// itself.  For how long it has stood still, where that is too long.
  std::optional<std::chrono::nanoseconds> find_hang(bool held, std::int64_t now_ns);

  /// A collective that has been in flight for too long; or one that a
  /// performer issues, where the training thread has got no further in its
  /// step for too long.
  std::optional<Overdue> find_overdue(const Scheduler& scheduler, std::int64_t now_ns) const;

 private:
  std::chrono::nanoseconds timeout_, training_timeout_;
  std::int64_t first_step_ns_, slowest_step_ns_;
  std::int64_t step_began_ns_ = -1;
  std::int64_t looked_ns_ = -1, resumed_ns_ = 0;
  std::int64_t progress_ns_ = 0;
  std::int64_t moved_ns_ = 0;  // it got ahead, or was held
  bool in_step_ = false;
};

/// The first error of a run, and whether it was thrown or taken.  Calls need a lock around them.
class FirstError {
 public:
  /// Later errors than the first are dropped.
  void set(const std::exception_ptr& error, std::int64_t now_ns);
  bool is_set() const { return error_ != nullptr; }

  /// Throws the error where there is one; it counts as thrown.
  void rethrow_if_set();

  /// The error, once, where it was not thrown within `grace`; else null.
  std::exception_ptr take_unthrown(std::int64_t now_ns, std::chrono::nanoseconds grace);

 private:
  std::exception_ptr error_;
  std::int64_t at_ns_ = 0;
  bool thrown_ = false;
};

}  // namespace paceline::execution
