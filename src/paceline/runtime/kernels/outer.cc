// SPDX-License-Identifier: Apache-2.0
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {

void run_nesterov(const OptimizerSettings& /*rule*/, const Call& call) {
  PACELINE_CHECK_EQ(call.numbers.size(), std::size_t{3});
  const double rate = call.numbers[0];
  const double mu = call.numbers[1];
  const at::Tensor& anchor = call.writes[0].front();
  const at::Tensor& momentum = call.writes[1].front();
  const at::Tensor mean = call.reads[2].front() / call.numbers[2];
  momentum.mul_(mu).add_(mean);
  anchor.sub_(mean, rate);
  if (mu != 0) {
    anchor.sub_(momentum, rate * mu);
  }
}

void run_slow_momentum(const OptimizerSettings& /*rule*/, const Call& call) {
  PACELINE_CHECK_EQ(call.numbers.size(), std::size_t{2});
  const at::Tensor& anchor = call.writes[0].front();
  const at::Tensor& momentum = call.writes[1].front();
  const at::Tensor rate = call.reads[3].front().to(anchor.scalar_type());
  momentum.mul_(call.numbers[1]).add_((anchor - call.reads[2].front()).div_(rate));
  anchor.sub_(momentum * rate, call.numbers[0]);
}

}  // namespace paceline::runtime
