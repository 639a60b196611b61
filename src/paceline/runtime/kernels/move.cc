// SPDX-License-Identifier: Apache-2.0
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {

void run_copy(const OptimizerSettings& /*rule*/, const Call& call) {
  PACELINE_CHECK_EQ(call.reads.size(), call.writes.size());
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    for (std::size_t t = 0; t < call.writes[i].size(); ++t) {
      const at::Tensor& to = call.writes[i][t];
      to.copy_(call.reads[i][t]).mul_(call.numbers[0]);
    }
  }
}

void run_divide(const OptimizerSettings& /*rule*/, const Call& call) {
  at::Tensor out = call.writes[0].front();
  at::div_out(out, call.reads[0].front(), call.reads[1].front());
}

void run_multiply(const OptimizerSettings& /*rule*/, const Call& call) {
  at::Tensor out = call.writes[0].front();
  at::mul_out(out, call.reads[0].front(), call.reads[1].front());
}

void run_cast(const OptimizerSettings& /*rule*/, const Call& call) {
  call.writes[0].front().copy_(call.reads[0].front());
}

}  // namespace paceline::runtime
