// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/hooks.h"

#include <memory>
#include <utility>

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/torch.h>

namespace paceline::runtime {
namespace {

class ReadyHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  ReadyHook(plan::ParameterId id, GradientHooks::Ready ready)
      : id_(id), ready_(std::move(ready)) {}

  void operator()(const torch::autograd::Variable& /*parameter*/) override {
    ready_(id_);
  }

 private:
  plan::ParameterId id_;
  GradientHooks::Ready ready_;
};

}  // namespace

GradientHooks::GradientHooks(const std::vector<at::Tensor>& parameters,
                             Ready ready)
    : parameters_(parameters) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(
        parameters_[i],
        std::make_unique<ReadyHook>(static_cast<plan::ParameterId>(i), ready));
  }
}

GradientHooks::~GradientHooks() {
  for (const at::Tensor& parameter : parameters_) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
  }
}

}  // namespace paceline::runtime
