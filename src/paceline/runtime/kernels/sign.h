// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// Packs the signs of a slice, eight a byte, the first in the lowest bit: 1
/// where a value is at least zero, 0 where it is below or not a number.
///
/// Reads a slice; writes an I8 slice of an eighth of its elements.
void run_sign(const OptimizerSettings& rule, const Call& call);

/// Sets every value to +1 or -1, as its bit says.
///
/// Reads bits, writes values, slice by slice.
void run_unsign(const OptimizerSettings& rule, const Call& call);

/// +1 where a value is at least zero, -1 where it is below or not a number, as
/// I8.
void run_sign8(const OptimizerSettings& rule, const Call& call);

/// Sets every value to the sign of a sum of such bytes, +1 for a sum of zero.
///
/// Reads bytes, writes values, slice by slice.
void run_unsign8(const OptimizerSettings& rule, const Call& call);

/// Counts the bits at each place over all copies, a tie for 1.
///
/// Reads slices of one or more copies each, of the length of what it writes.
/// Bernstein et al., ICLR 2019, arXiv:1810.05291.
void run_vote(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
