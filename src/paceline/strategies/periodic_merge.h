// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "paceline/plan/plan_input.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/transfer_time.h"

// The length of a step whose communication may extend into the next step, and the cut of the ready
// order into buckets that makes the step shortest.
//
// A module's forward waits for the buckets that hold its parameters, so the transfer of every
// bucket has ended before the next forward ends.  No transfer is therefore in flight when a
// backward begins, and the times of one step describe all steps.  Let e be the end of a bucket,
// counted from the start of backward, and let left be the time of the forward from the first module
// that the bucket holds parameters of to the end of the forward.  Then
//
//   step = max(compute, max over buckets of e + left)
//
// The model counts no time for updates.

namespace paceline::strategies {

/// The size and times of one gradient of the ready order.
struct StepTensor {
  std::int64_t bytes = 0;  // as transferred, padding included
  Picoseconds ready = 0;   // counted from the start of backward
  Picoseconds left = 0;    // from the start of its module's forward to the next backward
};

struct StepTimings {
  std::vector<StepTensor> tensors{};  // in ready order
  Picoseconds compute = 0;            // model work of a step, over all micro-batches
};

/// The tensors of a step, with times from input.profile.  Throws UsageError, which names the
/// schedule, if there is no profile.
StepTimings step_timings_of(const PlanInput& input, std::string_view schedule);

/// A division of the ready order into buckets (a cut), with the step time that it is predicted to
/// have.
struct PredictedCut {
  std::vector<std::size_t> sizes;  // number of tensors per bucket, in ready order
  Picoseconds step = 0;
  Picoseconds end = 0;    // end of communication, counted from the start of backward
  bool is_least = false;  // whether no cut makes a shorter step
};

/// Predicts the step of a cut.  If the engine performs one transfer at a time, buckets are
/// transferred in ready order, each when its last gradient is ready.  If it performs several, each
/// bucket first takes its own start-up time, and the transfers then share the bandwidth equally.
PredictedCut step_of(const StepTimings& step, const TransferTime& time,
                     std::vector<std::size_t> sizes);

/// Returns the cut with the shortest step and, among those, the one whose communication ends
/// earliest.
///
/// If transfers run one by one, the result is exact.  A step of length T is possible if every
/// bucket ends at most T - left after the start of backward.  An earlier end of the buckets before
/// never hurts, so the recurrence
///
///   end[j] = min over i < j of max(end[i], ready[j]) + time(bytes i+1 .. j),
///            over all i for which end[j] + left(i+1 .. j) <= T
///
/// decides in O(n^2) whether T is possible, and bisection finds the smallest possible whole T.
///
/// If several transfers run at once, best_concurrent() searches for the cut.
PredictedCut best_step(const StepTimings& step, const TransferTime& time);

/// Finds a cut for an engine that performs several transfers at once.  Up to kTriedTensors tensors,
/// all cuts are tried.  For more tensors the search begins with the best of these cuts: every
/// tensor alone, everything at once, buckets of 2^k bytes, the cut of the greedy rule, and the cuts
/// with the shortest step if transfers ran one by one with none, a part, or all of the start-up
/// time.  Then it removes, inserts and moves single cuts as long as that helps, at most a few
/// thousand times.
PredictedCut best_concurrent(const StepTimings& step, const TransferTime& time);

inline constexpr std::size_t kTriedTensors = 12;

/// Describes the cut in one line, which `paceline` shows as the planner's remark.
std::string remark_text_of(const PredictedCut& merge);

}  // namespace paceline::strategies
