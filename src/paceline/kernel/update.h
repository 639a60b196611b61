// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/kernel/table.h"

namespace paceline::kernel {

/// The optimizer's step over a slice, as one fused call of PyTorch.
///
/// Reads values, gradients, the rule's state and the learning rate (adamw also
/// the step count, already incremented); writes values and state.  The
/// gradient is divided by `numbers[0]` first, in place.
/// sgd: Sutskever et al., ICML 2013, in PyTorch's form v = mu v + g + wd w,
/// w -= lr v.  adamw: Loshchilov & Hutter, ICLR 2019, arXiv:1711.05101.
void run_update(const UpdateRule& rule, const Call& call);

/// Adds one to a one-element buffer.
void run_count(const UpdateRule& rule, const Call& call);

}  // namespace paceline::kernel
