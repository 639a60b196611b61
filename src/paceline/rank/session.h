// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "paceline/case/job_spec.h"
#include "paceline/engines/run_rank.h"
#include "paceline/rank/window.h"

namespace paceline::rank {

/// What a session calls.
struct SessionHooks {
  /// On rank 0, after each record that it has handed over to the front, and at the end.
  std::function<void()> finished{};
  engines::OnFailure on_failure{};
  WindowAccess* access = nullptr;  // to samples of a step that hangs
};

/// Runs every case of one repetition in the joined world: case k on ranks
/// 0 .. ranks-1, while the other ranks wait.  Rank 0 hands one record a case over to the front,
/// through the job's store.  A case that all of its ranks reject once they have begun it, one of
/// several, is a failed record, and the others run.  Returns 0, or 128 and the signal by which this
/// rank was asked to stop (launch::StopSignals).
///
/// Throws UsageError (on all ranks) for a case that cannot run and for a job that takes too long,
/// WorldError for a lost rank.
int run_session(const engines::RankContext& context, const cases::JobSpec& job,
                const SessionHooks& hooks);

}  // namespace paceline::rank
