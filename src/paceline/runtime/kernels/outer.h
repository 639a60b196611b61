// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

// Steps of outer optimizers, which move an anchor that all ranks share.

namespace paceline::runtime {

/// SGD with Nesterov momentum in PyTorch's form: with d = sum / `numbers[2]`,
/// m = mu m + d, anchor -= rate (d + mu m); `numbers` begin with rate and mu.
/// Douillard et al., 2023, arXiv:2311.08105.
void run_nesterov(const OptimizerSettings& rule, const Call& call);

/// Slow momentum: u = beta u + (anchor - values) / lr, anchor -= alpha lr u;
/// `numbers` are alpha and beta, lr is the last read.  Wang et al., ICLR 2020,
/// arXiv:1910.00643.
void run_slow_momentum(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
