// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "paceline/case/job_spec.h"
#include "paceline/engines/run_rank.h"

namespace paceline::rank {

/// Functions that the caller of a session passes in.
struct SessionHooks {
  /// Called on rank 0 after each record that it hands over to the front (the process that started
  /// the ranks), and at the end.
  std::function<void()> finished{};
  engines::OnFailure on_failure{};
};

/// Runs every case of one repetition in the joined world.  Each case runs on its ranks 0 ..
/// ranks-1, while the other ranks wait.  Rank 0 hands one record per case over to the front,
/// through the job's store.  If all ranks of a case reject it after they began it, and it is not
/// the only case, it becomes a failed record and the other cases run.  Returns 0, or 128 plus the
/// signal by which this rank was asked to stop (launch::StopSignals).
///
/// Throws UsageError (on all ranks) for a case that cannot run and for a job that takes too long,
/// WorldError for a lost rank.
int run_session(const engines::RankContext& context, const cases::JobSpec& job,
                const SessionHooks& hooks);

}  // namespace paceline::rank
