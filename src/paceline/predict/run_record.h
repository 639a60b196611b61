// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/predict/bound.h"
#include "paceline/predict/error_bar.h"
#include "paceline/records/run_record.h"
#include "paceline/records/trace.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// Returns a time in nanoseconds, the unit of records and traces.
inline std::int64_t ns(plan::Picoseconds time) {
  return (time + 500) / plan::kPicosecondsPerNanosecond;
}

/// A record names at most this many ranks; for larger worlds it has one rank of each class of equal
/// ranks.
inline constexpr plan::Rank kMostRecorded = 1024;

/// The most steps of all ranks together in a record: each is five numbers, in memory and as text,
/// so this keeps a record below about 1 GB.
inline constexpr std::int64_t kMostSamples = 5'000'000;

/// Converts the last run of `simulator` to the form of every other record: samples per rank and
/// step, phases, planned bytes.  The samples are the last `times.window` steps, repeated until
/// there are `configuration.steps`.  The last run of `compute_only` is that of the same job without
/// communication, sampled in the same way.
records::RunRecord record_of(const simulator::Job& job, const simulator::Simulator& simulator,
                             const simulator::StepTimes& times,
                             const simulator::Simulator& compute_only,
                             const cases::Case& configuration);

/// Returns the number of the job's ranks that compute, including those that are not simulated.
plan::Rank training_ranks(const simulator::Job& job);

/// Returns the part of a record that only predictions have: the bound, and the error bar for a step
/// that takes `step` on average.
records::PredictionDetails predicted_of(const simulator::Job& job, const Bound& bound,
                                        const ErrorBar& bar, plan::Picoseconds step);

/// Returns what the simulated ranks did in the last run, in the form of a measured trace.  Unlike
/// in a measured trace, each forward and backward contains spans of its modules and gradients.
std::vector<records::Span> spans_of(const simulator::Job& job,
                                    const simulator::Simulator& simulator);

/// Returns the host of each simulated rank, and the number of other ranks for which it stands.
std::map<int, std::string> rank_names(const simulator::Job& job, const cluster::Cluster& cluster);

}  // namespace paceline::predict
