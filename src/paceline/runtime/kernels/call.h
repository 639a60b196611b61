// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paceline::runtime {

/// One read or write of a kernel: a flat slice, or the tensors in it, one per
/// parameter, where the gradients are not in a flat buffer.
using Operand = std::vector<at::Tensor>;

struct Call {
  std::vector<Operand> reads, writes;  // as the plan's kernel op lists them
  std::span<const double> numbers;
};

}  // namespace paceline::runtime
