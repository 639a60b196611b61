// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/mpi_call.h"

#include <ATen/core/grad_mode.h>

namespace paceline::engines::mpi {

at::Tensor only(const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK(tensors.size() == 1, "engine mpi: one tensor a call, not ", tensors.size());
  return tensors.front();
}

char* bytes_of(const at::Tensor& values) {
  TORCH_CHECK(values.is_cpu() && values.is_contiguous(),
              "engine mpi: moves contiguous tensors of the CPU alone");
  return static_cast<char*>(values.data_ptr());
}

bool overlap(const at::Tensor& a, const at::Tensor& b) {
  const char* const first = bytes_of(a);
  const char* const second = bytes_of(b);
  return first < second + b.nbytes() && second < first + a.nbytes();
}

std::function<void()> division_of(const c10d::ReduceOp& reduce, const at::Tensor& values,
                                  int world) {
  if (static_cast<c10d::ReduceOp::RedOpType>(reduce) != c10d::ReduceOp::AVG) {
    return nullptr;
  }
  return [values, world] {
    const at::NoGradGuard no_grad;
    at::Tensor(values).div_(world);
  };
}

std::function<void()> copy_of(const at::Tensor& from, const at::Tensor& to) {
  return [from, to] {
    const at::NoGradGuard no_grad;
    to.copy_(from);
  };
}

}  // namespace paceline::engines::mpi
