// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// Writes the sum of the squares of all operands, taken in double precision.
void run_square_sum(const OptimizerSettings& rule, const Call& call);

/// Scales what updates divide by, so that the norm is at most `numbers[0]`:
/// torch.nn.utils.clip_grad_norm_.  Pascanu et al., ICML 2013, arXiv:1211.5063.
void run_clip(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
