// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// Rounds each value to a multiple of its block's L2 norm over the number of
/// levels, up or down at random so that its expectation is the value.
///
/// Reads values; writes bytes (I8): a code a value, then the norms (F32).
/// `numbers` are levels, values of a block, this rank.  Alistarh et al.,
/// NeurIPS 2017, arXiv:1610.02132.
void run_qsgd(const OptimizerSettings& rule, const Call& call);

/// Sets the values to the sum of what the ranks have sent, added in their
/// order.
///
/// Reads the bytes of all ranks, side by side; writes values.  `numbers` are
/// levels and values of a block.
void run_qsgd_sum(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
