// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// The optimizer's step over a slice, with weight decay where the rule has it
/// (runtime/kernels/optimizers.h).
///
/// Reads values, gradients, the optimizer's state and the learning rate; where
/// it counts steps also their number, already incremented; with loss scaling
/// also the scale and whether to skip the update.  Writes values and state.
/// Divides the gradient in place by `numbers[0]` and by the scale first.
///
/// Slices that begin at multiples of 16 elements give the same bits as one call
/// for the whole.  Elsewhere results may differ by one unit in the last place,
/// because PyTorch rounds elements that fill no SIMD vector differently.
void run_update(const OptimizerSettings& rule, const Call& call);

/// Adds one to a one-element buffer, and subtracts the overflow flag where
/// there is one: as in PyTorch's optimizers, a skipped step does not count.
void run_count(const OptimizerSettings& rule, const Call& call);

/// Writes 1 to the second operand where any gradient is infinite or not a
/// number, else 0.  The first operand is the gradients, which keep their
/// values.  Does not wait for the device.
void run_check(const OptimizerSettings& rule, const Call& call);

/// Copies the loss scale of this step to the third operand, then adapts it: an
/// overflow multiplies it by `numbers[1]`, and `numbers[2]` steps in a row
/// without overflow multiply it by `numbers[0]`.  Micikevicius et al., ICLR
/// 2018, arXiv:1710.03740, as PyTorch's GradScaler.
void run_rescale(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
