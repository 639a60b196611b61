// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

// Returns the sum of the squares, added up in eight lanes so that compilers use vector registers.
double squares_of(const float* values, std::int64_t count) {
  constexpr std::int64_t kLanes = 8;
  std::array<double, kLanes> sums{};
  const std::int64_t whole = count - count % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      sums[static_cast<std::size_t>(lane)] += value * value;
    }
  }
  for (std::int64_t i = whole; i < count; ++i) {
    sums[0] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

void run_square_sum(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& sum = call.writes[0].front();
  sum.zero_();
  for (const Operand& operand : call.reads) {
    for (const at::Tensor& one : operand) {
      if (one.is_cpu() && one.scalar_type() == at::kFloat && one.is_contiguous()) {
        sum.add_(squares_of(one.const_data_ptr<float>(), one.numel()));
      } else {
        sum.add_(one.to(at::kDouble).square().sum());
      }
    }
  }
}

void run_clip(const OptimizerSettings& /*rule*/, const Call& call) {
  PACELINE_CHECK_EQ(call.numbers.size(), std::size_t{3});
  constexpr double kEpsilon = 1e-6;  // as in PyTorch
  const at::Tensor& squares = call.reads[0].front();
  const at::Tensor scale =
      call.reads.size() > 1 ? call.reads[1].front().to(at::kDouble) : at::ones_like(squares);
  const at::Tensor norm = (squares / call.numbers[2]).sqrt() / (scale * call.numbers[1]);
  call.writes[0].front().copy_(scale * ((norm + kEpsilon) / call.numbers[0]).clamp_min(1));
}

}  // namespace paceline::runtime
