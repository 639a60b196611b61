// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/topk.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"

namespace paceline::runtime {
namespace {

// The k-th largest of non-negative values without NaN.
at::Tensor kth_largest(const at::Tensor& values, std::int64_t k) {
  if (!values.is_cpu() || values.scalar_type() != at::kFloat) {
    return std::get<0>(values.topk(k, 0, /*largest=*/true, /*sorted=*/false))
        .min();
  }
  const at::Tensor order = values.clone();
  float* first = order.data_ptr<float>();
  std::nth_element(
      first, first + (k - 1), first + order.numel(), std::greater<>());
  return order[k - 1];
}

// The places of the k largest magnitudes, in ascending order.
at::Tensor largest(const at::Tensor& values, std::int64_t k) {
  at::Tensor magnitudes = values.abs();
  magnitudes.masked_fill_(magnitudes.isnan(),
                          std::numeric_limits<double>::infinity());
  const at::Tensor least = kth_largest(magnitudes, k);
  at::Tensor taken = magnitudes >= least;
  if (taken.sum().item<std::int64_t>() > k) {
    const at::Tensor above = magnitudes > least;
    const at::Tensor equal = magnitudes == least;
    taken =
        above.logical_or(equal.logical_and(equal.cumsum(0) <= k - above.sum()));
  }
  return taken.nonzero().view({k});
}

}  // namespace

void run_topk(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  const at::Tensor& values = call.writes[0].front();
  const at::Tensor& residual = call.writes[2].front();
  PACELINE_CHECK(residual.numel() <= std::numeric_limits<std::int32_t>::max());
  residual.add_(call.reads[0].front());
  const at::Tensor places = largest(residual, values.numel());
  values.copy_(residual.index_select(0, places));
  call.writes[1].front().copy_(places);
  residual.index_fill_(0, places, 0);
}

void run_scatter(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  const at::Tensor& sum = call.writes[0].front();
  sum.zero_();
  if (!call.reads.empty()) {
    sum.index_add_(0, call.reads[1].front(), call.reads[0].front());
  }
}

}  // namespace paceline::runtime
