// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/settings.h"
#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/rank/progress_line.h"

namespace paceline::rank {

/// The estimated time and memory of a job, made before its first measured step.
struct Estimate {
  /// Why the job must not start; empty if it may.
  std::string rejection;
  /// Why single cases are rejected, by the cases' keys.
  std::map<std::string, std::string> rejected;
  /// Seconds of a network's first step, by network_key(), on a rank that is alone on its host.
  std::map<std::string, double> first_step_s;

  /// Returns the estimated time of a case's first step if `ranks_here` ranks share `cores` cores;
  /// zero if it is unknown.
  std::chrono::nanoseconds first_step(const cases::Case& c, int ranks_here, int cores) const;
};

/// Returns a text that contains every setting on which one rank's computation depends.
std::string network_key(const cases::Case& configuration);

/// The key of the job's store that holds the estimate, for the other ranks and for later
/// repetitions.
inline constexpr const char* kEstimateKey = "estimate";

struct EstimateOptions {
  const cases::Settings& settings;
  int cores = 1;                     // usable by all ranks of this host together
  ProgressLine* progress = nullptr;  // shows which network is being probed
  bool continues_without_rejected =
      false;  // whether the job runs its other cases if some are rejected
};

/// Estimates the time and memory of `cases`, which holds each case as often as it will run, from a
/// probe of each network on rank 0.  Prints the estimate on stderr and shares it with all ranks.  A
/// case is rejected if its network cannot be built, if it has no plan, or if it needs more memory
/// than there is; the latter is found without a probe if the network's shape shows it.  Throws
/// UsageError on every rank for a job above 30 minutes without `settings.yes`, and for a rejected
/// case unless the job goes on.
///
/// If the job's store already holds an estimate, of an earlier repetition, returns that instead.
/// `job` must have no prefix.  Collective over the world.
Estimate share_estimate(const engines::World& world, launch::PrefixStore& job,
                        const std::vector<cases::Case>& cases, const EstimateOptions& options);

}  // namespace paceline::rank
