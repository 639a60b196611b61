// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "paceline/execution/scheduler.h"

namespace paceline::execution {

/// Sentences about ops, for errors and the heartbeat.  They name an op by its step and by the text
/// of plan::describe().
class Diagnosis {
 public:
  Diagnosis(const Scheduler& scheduler, const plan::ModelShape& model, const plan::Setup& setup)
      : scheduler_(scheduler), model_(model), setup_(setup) {}

  /// Returns "step 3: OP waited 5.0 s behind OP of step 2, which is in flight": the op and the
  /// chain of ops that it waits for.
  std::string waited(plan::OpRef ref, std::chrono::nanoseconds time) const;

  /// Returns "step 3: OP is not done after 5.0 s".
  std::string overdue(plan::OpRef ref, std::chrono::nanoseconds time) const;

  /// Returns "step 3: the training thread has not moved for 5.0 s, at OP", or "behind the last
  /// operation" of `step` if no op is left.
  std::string describe_hang(const std::optional<plan::OpRef>& at, plan::Step step,
                            std::chrono::nanoseconds time) const;

  /// Returns "step 3: OP WHAT: the error's text" as an error of the same kind.
  std::exception_ptr failed(plan::OpRef ref, std::string_view what,
                            const std::exception_ptr& error) const;

  /// Returns what this rank is doing: an op in flight, else the oldest op that is not complete,
  /// else "between steps".
  std::string current() const;

 private:
  std::string where_is(plan::OpRef ref) const;
  std::string describe(plan::OpRef ref) const;

  const Scheduler& scheduler_;
  const plan::ModelShape& model_;
  const plan::Setup& setup_;
};

}  // namespace paceline::execution
