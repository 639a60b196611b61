// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "paceline/engines/run_rank.h"
#include "paceline/experiment/job_spec.h"
#include "paceline/measure/failure_record.h"

namespace paceline::measure {

/// What a session calls.
struct SessionHooks {
  std::function<void()> recorded{};  // on rank 0, after each record
  /// A case that all of its ranks refuse once they have begun it becomes a
  /// failed record, and the others run; else it ends the session.
  bool goes_on_without_refused = false;
  FailureRecord* failure = nullptr;  // null: a parent writes it
  engines::OnFailure on_failure{};
};

/// Runs every case of one repetition in the joined world: case k on ranks
/// 0 .. ranks-1, while the other ranks wait.  Rank 0 appends one record a case.
/// Returns 0, or 128 and the signal by which this rank was asked to stop
/// (launch::StopSignals).
///
/// Throws UsageError (on all ranks) for a case that cannot run and for a job
/// that takes too long, WorldError for a lost rank; the records of finished
/// cases are on the disk either way.
int run_session(const engines::RankContext& context,
                const experiment::JobSpec& job,
                const SessionHooks& hooks);

}  // namespace paceline::measure
