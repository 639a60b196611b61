// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <ATen/core/Tensor.h>

#include "paceline/plan/profile.h"
#include "paceline/runtime/shape.h"

namespace paceline::runtime {

struct ProfileOptions {
  int warmup = 1;
  int repeats = 3;     // at least 1
  std::string origin;  // stored in the profile
};

/// Times `loss` (a forward pass that returns the loss) and its backward pass layer by layer,
/// without communication.  Each time is the median over the repeats.  On a GPU, times are taken on
/// the compute stream.
///
/// No gate may be bound before the call.  Gradients are cleared; statistics and parameters keep
/// their values.
plan::LayerProfile profile_layers(TracedNetwork& traced, const std::function<at::Tensor()>& loss,
                                  at::Device device, const ProfileOptions& options);

}  // namespace paceline::runtime
