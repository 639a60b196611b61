// SPDX-License-Identifier: Apache-2.0
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"
#include "paceline/runtime/kernels/sign_bits.h"

namespace paceline::runtime {
namespace {

struct Extent {
  std::int64_t begin = 0, count = 0;

  at::Tensor of(const at::Tensor& slice) const { return slice.narrow(0, begin, count); }
  at::Tensor of_bits(const at::Tensor& bits) const {
    return bits.narrow(0, begin / 8, (count + 7) / 8);
  }
};

std::vector<Extent> tensors_of(const Call& call) {
  std::vector<Extent> tensors;
  for (std::size_t i = 0; i + 1 < call.numbers.size(); i += 2) {
    const auto begin = static_cast<std::int64_t>(call.numbers[i]);
    tensors.push_back({begin, static_cast<std::int64_t>(call.numbers[i + 1]) - begin});
  }
  return tensors;
}

}  // namespace

void run_ef_sign(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& wire = call.writes[0].front();
  const at::Tensor& residual = call.writes[1].front();
  residual.add_(call.reads[0].front());
  const at::Tensor bits = wire.narrow(0, 0, residual.numel() / 8);
  pack_signs(residual, bits);
  const std::vector<Extent> tensors = tensors_of(call);
  at::Tensor scales = at::empty({static_cast<std::int64_t>(tensors.size())}, at::kFloat);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor values = tensors[i].of(residual);
    const auto scale =
        static_cast<float>(values.norm(1).item<double>() / static_cast<double>(values.numel()));
    scales[static_cast<std::int64_t>(i)] = scale;
    add_signs(tensors[i].of_bits(bits), -scale, values);
  }
  wire.narrow(0, bits.numel(), wire.numel() - bits.numel()).copy_(scales.view(at::kChar));
}

void run_ef_sign_sum(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& sum = call.writes[0].front();
  const std::vector<Extent> tensors = tensors_of(call);
  const std::int64_t bytes = sum.numel() / 8;
  const std::int64_t whole = bytes + 4 * static_cast<std::int64_t>(tensors.size());
  PACELINE_CHECK_EQ(call.reads[0].front().numel() % whole, 0);
  bool first = true;
  for (const at::Tensor& one : call.reads[0].front().split(whole)) {
    const at::Tensor scales = one.narrow(0, bytes, whole - bytes).cpu().clone().view(at::kFloat);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto scale = scales[static_cast<std::int64_t>(i)].item<double>();
      const auto take = first ? write_signs : add_signs;
      take(tensors[i].of_bits(one), scale, tensors[i].of(sum));
    }
    first = false;
  }
}

}  // namespace paceline::runtime
