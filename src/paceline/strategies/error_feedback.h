// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"

// Error feedback: the part of a gradient that a codec leaves behind is added to the gradient of the
// next step.  Seide et al., Interspeech 2014; Karimireddy et al., ICML 2019, arXiv:1901.09847.

namespace paceline::strategies {

/// Adds the buffer "residual", which has one value per parameter element and starts at zero.  It
/// has the layout of the parameters, so a changed set of buckets uses the same residual.  Throws
/// UsageError, which names `codec`, where the loss is scaled.
void add_residual(const PlanInput& input, std::string_view codec, SetupBuilder& builder);

/// The part of the residual that belongs to a slice of the gradients.
Slice residual_of(const Slice& slice, const Program& program);

/// Appends a kernel that sets this part of the residual to zero, if the codec has a residual.
void forget_residual(const Slice& slice, Program& program);

}  // namespace paceline::strategies
