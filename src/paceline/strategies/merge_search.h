// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/strategies/periodic_merge.h"
#include "paceline/strategies/plan_words.h"

// How cuts are found where no rule says which is best; PeriodicMerge::bound is
// left to the caller.

namespace paceline::strategies {

/// Tries all of them: 2^(n-1) for n tensors.
PeriodicMerge best_of_all_cuts(const StepTensors& step,
                               const TransferTime& time);

/// Begins with the best of: every tensor alone, everything at once, buckets of
/// 2^k bytes, the greedy rule's, the one that ends earliest and the one with
/// the shortest step were transfers one by one, under start-ups from none to
/// the whole.  Then cuts are taken out, put in and moved by a tensor as long as
/// that gains.
PeriodicMerge best_found(const StepTensors& step, const TransferTime& time);

}  // namespace paceline::strategies
