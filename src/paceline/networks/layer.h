// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <torch/nn.h>

#include "paceline/networks/gates.h"

namespace paceline::networks {

/// A gated module that has parameters itself, such as Layer<torch::nn::Conv2dImpl>.  Parameter
/// names are those of the plain module.
template <class Impl>
class LayerImpl : public Impl, public Gated {
 public:
  using Impl::Impl;

  at::Tensor forward(const at::Tensor& input) {
    return run_through_gates([&] { return Impl::forward(input); });
  }
};

template <class Impl>
class Layer : public torch::nn::ModuleHolder<LayerImpl<Impl>> {
 public:
  using torch::nn::ModuleHolder<LayerImpl<Impl>>::ModuleHolder;
};

/// A linear layer whose backward pass writes the weight's gradient directly into the tensor that
/// Gates::gradient_slot returns, so that no copy is needed.
class LinearImpl : public torch::nn::LinearImpl, public Gated {
 public:
  using torch::nn::LinearImpl::LinearImpl;
  /// `input`: [rows, in_features]; returns [rows, out_features].
  at::Tensor forward(const at::Tensor& input);
};

class Linear : public torch::nn::ModuleHolder<LinearImpl> {
 public:
  using torch::nn::ModuleHolder<LinearImpl>::ModuleHolder;
};

/// Registers linear layers fc1, fc2, ... with `owner`; layer i has units[i] outputs.
std::vector<Linear> linear_layers(torch::nn::Module& owner, int inputs,
                                  const std::vector<int>& units);

/// Applies the layers in turn, with a ReLU after each, or after each except the last.
at::Tensor with_relu(std::vector<Linear>& layers, at::Tensor hidden, bool after_last = false);

using Conv2d = Layer<torch::nn::Conv2dImpl>;
using BatchNorm2d = Layer<torch::nn::BatchNorm2dImpl>;
using LayerNorm = Layer<torch::nn::LayerNormImpl>;
using Embedding = Layer<torch::nn::EmbeddingImpl>;

}  // namespace paceline::networks
