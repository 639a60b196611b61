// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// Adds the gradients to the residual, then takes out of it what crosses: the
/// sign of each value times the mean magnitude of its tensor.
///
/// Reads gradients and residual; writes bytes (I8), which are the signs, eight
/// a byte, then one F32 for each tensor, and the residual.  `numbers` are the
/// begin and the end of each tensor in the slice.  Karimireddy et al., ICML
/// 2019, arXiv:1901.09847.
void run_ef_sign(const OptimizerSettings& rule, const Call& call);

/// Sets each tensor to the sum of what the ranks have sent of it, added in
/// their order; what lies between tensors stays.
///
/// Reads the bytes of all ranks, side by side; writes the slice.  `numbers` as
/// above.
void run_ef_sign_sum(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
