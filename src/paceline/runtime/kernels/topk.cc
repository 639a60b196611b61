// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/topk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"

namespace paceline::runtime {
namespace {

// What orders magnitudes: the bits of a number without its sign; NaN counts as
// infinity.
template <class Real>
auto order_of(Real value) {
  using Bits =
      std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Real) - 1);
  const Bits infinity =
      std::bit_cast<Bits>(std::numeric_limits<Real>::infinity());
  return std::min(std::bit_cast<Bits>(value) & ~kSign, infinity);
}

// Adds, and takes the places of the k largest magnitudes of the sums, in
// ascending order; of equal ones the lower places.  One pass counts the sums by
// the high bits of their magnitude, a second collects those that may be taken.
template <class Real>
void take_largest(Real* sums,
                  const Real* addends,
                  std::int64_t n,
                  std::span<std::int64_t> places) {
  using Bits = decltype(order_of(Real{}));
  constexpr int kBits = 11;
  constexpr int kShift = 8 * sizeof(Real) - 1 - kBits;
  constexpr std::int64_t kWays = 4;  // counts that no neighbor waits for
  std::array<std::array<std::uint32_t, std::size_t{1} << kBits>, kWays>
      counts{};
  for (std::int64_t i = 0; i < n; ++i) {
    sums[i] += addends[i];
    ++counts[i % kWays][order_of(sums[i]) >> kShift];
  }
  const auto k = std::ssize(places);
  Bits group = (Bits{1} << kBits) - 1;
  const auto held = [&] {
    return std::int64_t{counts[0][group]} + counts[1][group] +
           counts[2][group] + counts[3][group];
  };
  std::int64_t found = held();
  while (found < k) {
    --group;
    found += held();
  }
  const Bits least_candidate = group << kShift;
  std::vector<std::int64_t> candidates;
  std::vector<Bits> orders;
  candidates.reserve(static_cast<std::size_t>(found));
  orders.reserve(static_cast<std::size_t>(found));
  for (std::int64_t i = 0; i < n; ++i) {
    if (const Bits order = order_of(sums[i]); order >= least_candidate) {
      candidates.push_back(i);
      orders.push_back(order);
    }
  }
  std::vector<Bits> sorted = orders;
  std::ranges::nth_element(sorted, sorted.begin() + (k - 1), std::greater<>());
  const Bits least = sorted[static_cast<std::size_t>(k - 1)];
  std::int64_t equal =
      k - std::count_if(sorted.begin(), sorted.begin() + k, [&](Bits order) {
        return order > least;
      });
  auto place = places.begin();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (orders[i] > least || (orders[i] == least && equal-- > 0)) {
      *place++ = candidates[i];
    }
  }
}

// The same on any device.
at::Tensor largest(const at::Tensor& values, std::int64_t k) {
  at::Tensor magnitudes = values.abs();
  magnitudes.masked_fill_(magnitudes.isnan(),
                          std::numeric_limits<double>::infinity());
  const at::Tensor least =
      std::get<0>(magnitudes.topk(k, 0, /*largest=*/true, /*sorted=*/false))
          .min();
  at::Tensor taken = magnitudes >= least;
  if (taken.sum().item<std::int64_t>() > k) {
    const at::Tensor above = magnitudes > least;
    const at::Tensor equal = magnitudes == least;
    taken =
        above.logical_or(equal.logical_and(equal.cumsum(0) <= k - above.sum()));
  }
  return taken.nonzero().view({k});
}

// Adds to `sums`; the places of the k largest magnitudes.
at::Tensor add_and_select(const at::Tensor& sums,
                          const at::Tensor& addends,
                          std::int64_t k) {
  const auto on_host = [&](auto zero) {
    using Real = decltype(zero);
    at::Tensor places = at::empty({k}, at::kLong);
    take_largest(
        sums.data_ptr<Real>(),
        addends.const_data_ptr<Real>(),
        sums.numel(),
        {places.data_ptr<std::int64_t>(), static_cast<std::size_t>(k)});
    return places;
  };
  const bool alike = sums.is_cpu() && sums.is_contiguous() &&
                     addends.is_contiguous() &&
                     addends.scalar_type() == sums.scalar_type();
  if (alike && sums.scalar_type() == at::kFloat) {
    return on_host(0.0F);
  }
  if (alike && sums.scalar_type() == at::kDouble) {
    return on_host(0.0);
  }
  sums.add_(addends);
  return largest(sums, k);
}

}  // namespace

void run_topk(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  const at::Tensor& values = call.writes[0].front();
  const at::Tensor& residual = call.writes[2].front();
  PACELINE_CHECK(residual.numel() <= std::numeric_limits<std::int32_t>::max());
  const at::Tensor places =
      add_and_select(residual, call.reads[0].front(), values.numel());
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
