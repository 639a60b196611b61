// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <unordered_set>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

// k of the places 0 .. n-1.  Floyd's algorithm: Bentley and Floyd, "A sample of
// brilliance", Communications of the ACM 30(9), 1987.
at::Tensor places_of(std::int64_t n, std::int64_t k, Random random) {
  at::Tensor places = at::empty({k}, at::kInt);
  auto* next = places.data_ptr<std::int32_t>();
  std::unordered_set<std::int64_t> taken;
  taken.reserve(static_cast<std::size_t>(k));
  for (std::int64_t last = n - k; last < n; ++last) {
    auto place = static_cast<std::int64_t>(
        random.below(static_cast<std::uint64_t>(last) + 1));
    if (!taken.insert(place).second) {
      place = last;
      taken.insert(place);
    }
    *next++ = static_cast<std::int32_t>(place);
  }
  return places;
}

}  // namespace

void run_random_k(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& values = call.writes[0].front();
  const at::Tensor& places = call.writes[1].front();
  const at::Tensor& residual = call.writes[2].front();
  PACELINE_CHECK(residual.numel() <= std::numeric_limits<std::int32_t>::max());
  residual.add_(call.reads[0].front());
  places.copy_(places_of(
      residual.numel(), values.numel(), random_of(call.random, /*rank=*/0)));
  values.copy_(residual.index_select(0, places));
  residual.index_fill_(0, places.to(at::kLong), 0);
}

}  // namespace paceline::runtime
