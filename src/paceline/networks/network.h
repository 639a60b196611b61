// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include "paceline/networks/catalogue.h"

namespace paceline::networks {

/// A trainable network.  Its parameters' names are torchvision's state-dict
/// names, so that torchvision's weights load.
class Network : public torch::nn::Module {
 public:
  /// `input`: [batch, ...] as `NetworkInfo::input`; returns logits
  /// [batch, classes].
  virtual at::Tensor forward(const at::Tensor& input) = 0;
};

}  // namespace paceline::networks
