// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// Adds the gradients to the residual and takes values at random places out of
/// it, as many as `writes[0]` has elements; every set of places is as likely.
///
/// Reads gradients and residual; writes values, their places as I32, each once,
/// and the residual.  The places depend on the call's random key alone.  Stich
/// et al., NeurIPS 2018, arXiv:1809.07599, definition 2.2.
void run_random_k(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
