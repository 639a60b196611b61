// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// The optimizer's step over a slice, as one fused call of PyTorch.
///
/// Reads values, gradients, the rule's state and the learning rate (adamw also
/// the step count, already incremented; with loss scaling also the scale and
/// whether to skip); writes values and state.  Slices give the bits of the
/// whole where they begin at multiples of 16 elements; PyTorch rounds what
/// fills no vector in another way (by one unit).  The gradient is divided by
/// `numbers[0]`, and the scale, first, in place.
/// sgd: Sutskever et al., ICML 2013, in PyTorch's form v = mu v + g + wd w,
/// w -= lr v.  adamw: Loshchilov & Hutter, ICLR 2019, arXiv:1711.05101.
void run_update(const UpdateRule& rule, const Call& call);

/// Adds one to a one-element buffer, less the overflow flag where there is one:
/// PyTorch's optimizers do not count a skipped step either.
void run_count(const UpdateRule& rule, const Call& call);

/// Whether any gradient is infinite or not a number: 1 or 0 to the second
/// write.  The first write is the gradients themselves, which keep their
/// values.  Does not wait for the device.
void run_check(const UpdateRule& rule, const Call& call);

/// Copies the loss scale, by which this step's gradients are too large, to the
/// third write, then adapts it: an overflow multiplies it by `numbers[1]`, and
/// `numbers[2]` good steps in a row multiply it by `numbers[0]`.
/// Micikevicius et al., ICLR 2018, arXiv:1710.03740, as PyTorch's GradScaler
/// does it.
void run_rescale(const UpdateRule& rule, const Call& call);

}  // namespace paceline::runtime
