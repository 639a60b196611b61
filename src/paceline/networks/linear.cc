// SPDX-License-Identifier: Apache-2.0
#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include "paceline/networks/layer.h"

namespace paceline::networks {
namespace {

namespace autograd = torch::autograd;

// Computes a linear layer with the operations of PyTorch's own layer and its backward pass, in the
// same order of operands, so that both give the same bits. The bias is the first input, because
// PyTorch computes its gradient first.
class LinearIntoSlot : public autograd::Function<LinearIntoSlot> {
 public:
  static at::Tensor forward(autograd::AutogradContext* context, const at::Tensor& bias,
                            const at::Tensor& input, const at::Tensor& weight, Gates* gates) {
    context->save_for_backward({input, weight});
    context->saved_data["gates"] = reinterpret_cast<std::intptr_t>(gates);
    return at::addmm(bias, input, weight.t());
  }

  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          const autograd::variable_list& gradients) {
    const autograd::variable_list saved = context->get_saved_variables();
    const at::Tensor& input = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor& out = gradients[0];
    const std::int64_t number = context->saved_data["gates"].toInt();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): saved_data keeps no pointers
    auto* gates = reinterpret_cast<Gates*>(number);
    at::Tensor of_input = context->needs_input_grad(1) ? out.mm(weight) : at::Tensor();
    at::Tensor of_weight = gates->gradient_slot(weight);
    if (of_weight.defined()) {
      at::mm_out(of_weight, out.t(), input);
    } else {
      of_weight = out.t().mm(input);
    }
    at::Tensor of_bias = context->needs_input_grad(0) ? out.sum(0) : at::Tensor();
    return {std::move(of_bias), std::move(of_input), std::move(of_weight), {}};
  }
};

}  // namespace

at::Tensor LinearImpl::forward(const at::Tensor& input) {
  return run_through_gates([&] {
    const bool same_type = input.scalar_type() == weight.scalar_type() &&
                           !at::autocast::is_autocast_enabled(input.device().type());
    if (gates() == nullptr || !same_type || !weight.requires_grad() || !bias.defined() ||
        input.dim() != 2) {
      return torch::nn::LinearImpl::forward(input);
    }
    return LinearIntoSlot::apply(bias, input, weight, gates());
  });
}

std::vector<Linear> linear_layers(torch::nn::Module& owner, int inputs,
                                  const std::vector<int>& units) {
  std::vector<Linear> layers;
  for (const int outputs : units) {
    layers.emplace_back(inputs, outputs);
    owner.register_module(fmt::format("fc{}", layers.size()), layers.back());
    inputs = outputs;
  }
  return layers;
}

at::Tensor with_relu(std::vector<Linear>& layers, at::Tensor hidden, bool after_last) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    hidden = layers[i](hidden);
    if (after_last || i + 1 < layers.size()) {
      hidden = hidden.relu_();
    }
  }
  return hidden;
}

}  // namespace paceline::networks
