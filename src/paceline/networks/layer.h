// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <torch/torch.h>

#include "paceline/networks/gates.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::networks {

/// The side of a layer that an executor sees.  Unbound it costs a null test.
class Gated {
 public:
  virtual ~Gated() = default;
  void bind(Gates* gates, plan::ModuleId id) {
    gates_ = gates;
    id_ = id;
  }

 protected:
  template <class Run>
  at::Tensor through(Run&& run) {
    if (gates_ == nullptr) {
      return std::forward<Run>(run)();
    }
    gates_->enter(id_);
    at::Tensor out = std::forward<Run>(run)();
    gates_->leave(id_);
    if (gates_->gates_backward(id_) && out.requires_grad()) {
      out.register_hook([gates = gates_, id = id_](const at::Tensor& gradient) {
        gates->enter_backward(id);
        return gradient;
      });
    }
    return out;
  }

 private:
  Gates* gates_ = nullptr;
  plan::ModuleId id_{};
};

/// A module with parameters of its own, gated: Layer<torch::nn::Conv2dImpl>.
/// Parameter names are those of the plain module.
template <class Impl>
class LayerImpl : public Impl, public Gated {
 public:
  using Impl::Impl;

  at::Tensor forward(const at::Tensor& input) {
    return through([&] { return Impl::forward(input); });
  }
};

template <class Impl>
class Layer : public torch::nn::ModuleHolder<LayerImpl<Impl>> {
 public:
  using torch::nn::ModuleHolder<LayerImpl<Impl>>::ModuleHolder;
};

using Conv2d = Layer<torch::nn::Conv2dImpl>;
using Linear = Layer<torch::nn::LinearImpl>;
using BatchNorm2d = Layer<torch::nn::BatchNorm2dImpl>;
using LayerNorm = Layer<torch::nn::LayerNormImpl>;
using Embedding = Layer<torch::nn::EmbeddingImpl>;

}  // namespace paceline::networks
