// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/move.h"

#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"

namespace paceline::runtime {

void run_copy(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  PACELINE_CHECK_EQ(call.reads.size(), call.writes.size());
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    for (std::size_t t = 0; t < call.writes[i].size(); ++t) {
      const at::Tensor& to = call.writes[i][t];
      to.copy_(call.reads[i][t]).mul_(call.numbers[0]);
    }
  }
}

void run_cast(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  call.writes[0].front().copy_(call.reads[0].front());
}

}  // namespace paceline::runtime
