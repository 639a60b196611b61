// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/hooks.h"

#include <memory>
#include <utility>

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/types.h>

namespace paceline::runtime {
namespace {

class ReadyHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  ReadyHook(plan::ParameterId id, GradientHooks::Ready ready) : id_(id), ready_(std::move(ready)) {}

  void operator()(const torch::autograd::Variable& /*parameter*/) override { ready_(id_); }

 private:
  plan::ParameterId id_;
  GradientHooks::Ready ready_;
};

}  // namespace

GradientHooks::GradientHooks(std::vector<at::Tensor> parameters, const Ready& ready)
    : parameters_(std::move(parameters)) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(
        parameters_[i], std::make_unique<ReadyHook>(static_cast<plan::ParameterId>(i), ready));
  }
}

GradientHooks::~GradientHooks() {
  for (const at::Tensor& parameter : parameters_) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
  }
}

BoundGates::BoundGates(std::vector<networks::Gated*> gated, networks::Gates& gates)
    : gated_(std::move(gated)) {
  for (std::size_t m = 0; m < gated_.size(); ++m) {
    if (gated_[m] != nullptr) {
      gated_[m]->bind(&gates, static_cast<plan::ModuleId>(m));
    }
  }
}

BoundGates::~BoundGates() {
  for (networks::Gated* gated : gated_) {
    if (gated != nullptr) {
      gated->bind(nullptr, {});
    }
  }
}

SavedBuffers::SavedBuffers(const torch::nn::Module& network) : buffers_(network.buffers()) {
  for (const at::Tensor& buffer : buffers_) {
    values_.push_back(buffer.clone());
  }
}

SavedBuffers::~SavedBuffers() {
  const at::NoGradGuard no_grad;
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    buffers_[b].copy_(values_[b]);
  }
}

}  // namespace paceline::runtime
