// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "paceline/measure/bulletin.h"
#include "paceline/measure/session.h"

namespace paceline::measure {

/// What is known of a job's steps before the first one is measured.
struct Estimate {
  /// Empty, or why the job shall not start.
  std::string refusal;
  /// Seconds of each network's first step, on a rank that has its host to
  /// itself; keys are the estimate's own.
  std::map<std::string, double> first_step_s;

  /// About how long the first step of a case takes where `ranks_here` ranks
  /// share `cores`; zero where nothing is known.
  std::chrono::nanoseconds first_step(const records::Configuration& c,
                                      int ranks_here,
                                      int cores) const;
};

/// What one rank's computing depends on: equal texts compute alike.
std::string network_of(const records::Configuration& configuration);

/// Under this key the job's board holds it, for the other ranks and for later
/// repetitions.
inline constexpr const char* kEstimateNote = "estimate";

/// Estimates time and memory of all `cases` (each as often as it will run) from
/// a probe of each network on rank 0, and prints that on stderr.  Hands out the
/// estimate, or throws UsageError, on every rank: for a job above 30 minutes
/// without `options.yes`, and for less memory than the largest case needs.
///
/// Where the job's board holds an estimate, of an earlier repetition, that one
/// is taken and nothing is probed.  `job` puts nothing before its keys; `cores`
/// are those that all ranks of this host may use.  Collective over the world.
Estimate agree_on_estimate(engines::World& world,
                           Bulletin& job,
                           const std::vector<records::Configuration>& cases,
                           const SessionOptions& options,
                           int cores);

}  // namespace paceline::measure
