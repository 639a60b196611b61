// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// Adds the residual to the gradients and takes the values of largest
/// magnitude out of the sum, as many as `writes[0]` has elements; what remains
/// is the residual.
///
/// Reads gradients and residual; writes values, their places as I32, in
/// ascending order, and the residual.  Of equal magnitudes the lower place is
/// taken; not a number counts as infinite.  Selects by the k-th magnitude, in
/// linear time.  Stich et al., NeurIPS 2018, arXiv:1809.07599.
void run_topk(const OptimizerSettings& rule, const Call& call);

/// Sets a slice to zero, then adds each value at its place, in the order in
/// which they lie: values that ranks have gathered add up in rank order.
///
/// Reads values and places, or nothing; writes the slice.
void run_scatter(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
