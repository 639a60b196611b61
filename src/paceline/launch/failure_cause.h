// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "paceline/launch/failure_notice.h"
#include "paceline/launch/supervise.h"

namespace paceline::launch {

/// A supervised child and how it ended.
struct Child : ChildProcess {
  std::optional<int> status;         // as waitpid says; absent while it runs
  std::chrono::nanoseconds ended{};  // on the supervisor's clock

  bool exited_with(int code) const;
  bool holds(int rank) const { return rank >= first_rank && rank < first_rank + ranks; }
  std::vector<int> all_ranks() const;
};

/// Finds the rank whose failure ended the job.
///
/// Note [Which rank is named].  A silent rank first: its peers wait for it, or
/// time out because of it.  Then the earliest of two: a death without a notice, and the first
/// notice that is not a consequence.  Then a rank that exited with code 0 without finishing.  Only
/// then a notice that is a consequence, of the rank at the earliest step.
FailureNotice find_cause(const std::vector<Child>& children,
                         const std::optional<SilentRank>& silent, KeyValueStore& store);

}  // namespace paceline::launch
