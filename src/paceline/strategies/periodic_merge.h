// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "paceline/plan/plan_input.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/transfer_time.h"

// How long a step is whose next step has begun before its last bucket crossed, and the cut of the
// ready order that makes it shortest.
//
// A module's forward waits for the buckets that hold its parameters, so every bucket has crossed
// before the next forward ends: the wire is empty when a backward begins, and one step says all.
// With e the end of a bucket, counted from the start of backward, and left the forward from the
// first module that the bucket holds parameters of to its end,
//
//   step = max(compute, max over buckets of e + left)
//
// Updates take no time here.

namespace paceline::strategies {

/// A gradient in ready order, and when the next forward wants it.
struct StepTensor {
  std::int64_t bytes = 0;  // as it crosses, padding included
  Picoseconds ready = 0;   // from the start of backward
  Picoseconds left = 0;    // from its module's forward to the next backward
};

struct StepTensors {
  std::vector<StepTensor> tensors{};  // in ready order
  Picoseconds compute = 0;            // of a step, all micro-batches
};

/// The tensors of a step, with times from input.profile.  Throws UsageError, which names the
/// schedule, where there is no profile.
StepTensors step_tensors_of(const PlanInput& input, std::string_view schedule);

/// A cut and the steps that it makes.
struct PeriodicMerge {
  std::vector<std::size_t> sizes;  // tensors a bucket, in ready order
  Picoseconds step = 0;
  Picoseconds end = 0;    // of communication, from the backward's start
  bool is_least = false;  // no cut makes a shorter step
};

/// The step of a cut.  One by one, buckets cross in ready order, each when its last gradient is
/// ready; side by side, up to so many at once, each behind a start-up of its own, the rest in equal
/// shares of the wire.
PeriodicMerge step_of(const StepTensors& step, const TransferTime& time,
                      std::vector<std::size_t> sizes);

/// The cut with the shortest step; among those the one whose communication
/// ends earliest.
///
/// One by one it is exact.  A step of length T is possible where every bucket ends T - left after
/// the backward's start at the latest, and an earlier end of the buckets before never hurts, so
/// that
///
///   end[j] = min over i < j of max(end[i], ready[j]) + time(bytes i+1 .. j),
///            over those that keep end[j] + left(i+1 .. j) <= T
///
/// decides on T in O(n^2), and bisection finds the least whole T.
///
/// Side by side best_side_by_side() searches.
PeriodicMerge best_step(const StepTensors& step, const TransferTime& time);

/// Tries all cuts of up to kTriedTensors tensors.  Of more it begins with the best of: every tensor
/// alone, everything at once, buckets of 2^k bytes, the greedy rule's, and the cuts with the
/// shortest step were transfers one by one, under start-ups from none to the whole.  Then cuts are
/// taken out, put in and moved by a tensor as long as that gains, a few thousand times at most.
PeriodicMerge best_side_by_side(const StepTensors& step, const TransferTime& time);

inline constexpr std::size_t kTriedTensors = 12;

/// One line for people.
std::string remark_on(const PeriodicMerge& merge);

}  // namespace paceline::strategies
