// SPDX-License-Identifier: Apache-2.0
#include "paceline/kernel/update.h"

#include <optional>

#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/kernel/call.h"

namespace paceline::kernel {
namespace {

// PyTorch's fused kernels divide by this tensor while they read the gradient.
std::optional<at::Tensor> divisor_tensor(const Call& call) {
  const double divisor = call.numbers.empty() ? 1.0 : call.numbers[0];
  if (divisor == 1.0) {
    return std::nullopt;
  }
  return at::full({},
                  divisor,
                  at::TensorOptions()
                      .dtype(at::kFloat)
                      .device(call.reads[0].front().device()));
}

}  // namespace

void run_update(const UpdateRule& rule, const Call& call) {
  const at::NoGradGuard no_grad;
  const Operand& values = call.reads[0];
  const Operand& gradients = call.reads[1];
  const auto divisor = divisor_tensor(call);
  if (rule.name == "sgd") {
    PACELINE_CHECK_EQ(call.reads.size(), std::size_t{4});
    // A momentum buffer that starts at zero makes the first step no exception.
    at::_fused_sgd_(values,
                    gradients,
                    call.reads[2],
                    rule.weight_decay,
                    rule.momentum,
                    call.reads[3].front(),
                    /*dampening=*/0,
                    /*nesterov=*/false,
                    /*maximize=*/false,
                    /*is_first_step=*/false,
                    divisor);
    return;
  }
  PACELINE_CHECK_EQ(rule.name, std::string("adamw"));
  PACELINE_CHECK_EQ(call.reads.size(), std::size_t{6});
  const std::vector<at::Tensor> steps(values.size(), call.reads[5].front());
  at::_fused_adamw_(values,
                    gradients,
                    call.reads[2],
                    call.reads[3],
                    {},
                    steps,
                    call.reads[4].front(),
                    rule.beta1,
                    rule.beta2,
                    rule.weight_decay,
                    rule.epsilon,
                    /*amsgrad=*/false,
                    /*maximize=*/false,
                    divisor);
}

void run_count(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  call.writes[0].front().add_(1);
}

}  // namespace paceline::kernel
