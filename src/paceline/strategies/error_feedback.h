// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"

// Error feedback: what a codec leaves behind of a gradient is added to the next step's.  Seide et
// al., Interspeech 2014; Karimireddy et al., ICML 2019, arXiv:1901.09847.

namespace paceline::strategies {

/// Adds the buffer "residual": one value a parameter, zero at first, in the layout of the
/// parameters, so that other buckets find it where it was.
/// Throws UsageError where the loss is scaled; `codec` is named there.
void add_residual(const PlanInput& input, std::string_view codec, SetupBuilder& builder);

/// The part of it that belongs to a slice of the gradients.
Slice residual_of(const Slice& slice, const Program& program);

/// Appends what sets this part to zero, where the codec has a residual.
void forget_residual(const Slice& slice, Program& program);

}  // namespace paceline::strategies
