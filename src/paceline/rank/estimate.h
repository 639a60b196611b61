// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "paceline/case/settings.h"
#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/rank/progress_line.h"
#include "paceline/records/configuration.h"

namespace paceline::rank {

/// The estimate of a job before its first step is measured.
struct Estimate {
  /// Empty, or why the job shall not start.
  std::string rejection;
  /// Why single cases are rejected, by their keys.
  std::map<std::string, std::string> rejected;
  /// Seconds of the first step by network_of(), for a rank that is alone on its host.
  std::map<std::string, double> first_step_s;

  /// The estimated time of a case's first step where `ranks_here` ranks share
  /// `cores`; zero where it is unknown.
  std::chrono::nanoseconds first_step(const records::Configuration& c, int ranks_here,
                                      int cores) const;
};

/// All that the computation of one rank depends on, as text.
std::string network_of(const records::Configuration& configuration);

/// The key of the job's store that holds the estimate, for the other ranks and for later
/// repetitions.
inline constexpr const char* kEstimateKey = "estimate";

struct EstimateOptions {
  const cases::Settings& settings;
  int cores = 1;                     // that all ranks of this host may use
  ProgressLine* progress = nullptr;  // says which network is probed
  bool goes_on = false;              // a case that is rejected does not end the job
};

/// Estimates time and memory of all `cases` (each as often as it will run) from a probe of each
/// network on rank 0, prints the estimate on stderr and shares it with all ranks.  A case without a
/// plan is rejected, and one that needs more memory than there is: before a probe where the shape
/// of its network tells that.  Throws UsageError on every rank for a job above 30 minutes without
/// `settings.yes`, and for a rejected case unless the job goes on.
///
/// An estimate that the job's store holds already, of an earlier repetition, is taken instead.
/// `job` has no prefix.  Collective over the world.
Estimate share_estimate(const engines::World& world, launch::PrefixStore& job,
                        const std::vector<records::Configuration>& cases,
                        const EstimateOptions& options);

}  // namespace paceline::rank
