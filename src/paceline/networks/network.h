// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/nn/module.h>

#include "paceline/networks/batch.h"

namespace paceline::networks {

/// A trainable network.  Its parameter names equal those in the state dicts of torchvision or
/// Hugging Face, so that their weights can be loaded.
class Network : public torch::nn::Module {
 public:
  /// Runs the forward pass of a batch that `make_batch` made for this network, and returns the mean
  /// loss; if the batch has integers, the sum over the examples.
  virtual at::Tensor loss(const Batch& batch) = 0;

  /// Whether the plan numbers the network's parameters in registration order instead of the order
  /// in which their layers are entered.
  virtual bool numbers_parameters_by_registration() const { return false; }
};

/// A network that classifies images, with cross-entropy as its loss.
class Classifier : public Network {
 public:
  /// `images`: [batch, channels, side, side]; returns logits [batch, classes].
  virtual at::Tensor forward(const at::Tensor& images) = 0;

  at::Tensor loss(const Batch& batch) final;
};

}  // namespace paceline::networks
