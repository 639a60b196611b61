// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/nn/module.h>

#include "paceline/networks/batch.h"

namespace paceline::networks {

/// A trainable network.  Its parameters' names are those of the state dict of torchvision or of
/// Hugging Face, so that their weights load.
class Network : public torch::nn::Module {
 public:
  /// The forward pass and the mean loss of a batch that `make_batch` made for this network; the sum
  /// over the samples where the batch has integers.
  virtual at::Tensor loss(const Batch& batch) = 0;

  /// Whether its parameters are numbered as they are registered, and not as their layers are
  /// entered.
  virtual bool numbers_as_registered() const { return false; }
};

/// A network that tells classes of images apart by cross-entropy.
class Classifier : public Network {
 public:
  /// `images`: [batch, channels, side, side]; returns logits [batch, classes].
  virtual at::Tensor forward(const at::Tensor& images) = 0;

  at::Tensor loss(const Batch& batch) final;
};

}  // namespace paceline::networks
