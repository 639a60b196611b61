// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

// PowerSGD: Vogels et al., NeurIPS 2019, arXiv:1905.13727, algorithm 1.
// `numbers` are, of each tensor in the slice, its begin, rows, columns and
// rank; rank 0: a tensor of `rows` values that crosses as it is.  The factors
// of the tensors lie one after the other.

namespace paceline::runtime {

/// M += gradients; P = M Q, or the gradients of a tensor as it is.  A Q that is
/// zero is drawn first, from the call's random key, the same on all ranks.
///
/// Reads gradients, M (the residual), and where there are matrices Q; writes P,
/// M, Q.
void run_powersgd_left(const OptimizerSettings& rule, const Call& call);

/// P = an orthonormal basis of its columns (Householder); Q = M^T P.
///
/// Reads P and M; writes P and Q.
void run_powersgd_right(const OptimizerSettings& rule, const Call& call);

/// values = P Q^T, M -= values / ranks; the values of a tensor as it is.
///
/// Reads P, and where there are matrices Q, and M; writes values and M.  The
/// last number is the number of ranks.  Without M and that number: values
/// alone.
void run_powersgd_outer(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
