// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// Adds two lists of values at ascending places, and keeps the values of
/// largest magnitude, as many as one list has; of equal magnitudes the lower
/// place.  A value of this rank's own at a place that is dropped returns to the
/// residual, and counts as zero from then on.
///
/// Reads values and places (I32) of the lower rank, those of the higher, this
/// rank's own, and the residual; writes the merged values and places, the own
/// values, the residual.  Not a number counts as infinite.  Shi et al., ICDCS
/// 2019, arXiv:1901.04359, algorithm 2.
void run_gtopk_merge(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
