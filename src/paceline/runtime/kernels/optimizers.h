// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// The step of an optimizer of plan/optimizer.h, with one weight decay for all
/// that the call updates: operands as run_update() has them.
///
/// With g the divided gradient, d the weight decay, lr the learning rate:
///   sgd       v = mu v + g + d w;  w -= lr v
///   adam      torch.optim.Adam: d w is added to g
///   adamw     torch.optim.AdamW: w is scaled by 1 - lr d
///   rmsprop   g' = g + d w;  s = a s + (1 - a) g'^2;  w -= lr g' / (sqrt(s) +
///             e)
///   adagrad   g' = g + d w;  s += g'^2;  w -= lr g' / (sqrt(s) + e)
///   adadelta  g' = g + d w;  s = r s + (1 - r) g'^2;  u = g' sqrt(t + e) /
///             sqrt(s + e);  t = r t + (1 - r) u^2;  w -= lr u
///
/// PyTorch's fused kernel where it has one that works, else a loop of one pass;
/// on a GPU its operators.
void run_optimizer(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
