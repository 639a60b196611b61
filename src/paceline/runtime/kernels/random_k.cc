// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_set>
#include <vector>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

// Numbers the elements of all tensors in a slice consecutively, without the padding between the
// tensors.
class TensorElements {
 public:
  // `borders`: begin and end of each tensor, in ascending order.
  explicit TensorElements(std::span<const double> borders) {
    for (std::size_t i = 0; i + 1 < borders.size(); i += 2) {
      const auto begin = static_cast<std::int64_t>(borders[i]);
      shifts_.push_back(begin - count_);
      count_ += static_cast<std::int64_t>(borders[i + 1]) - begin;
      ends_.push_back(count_);
    }
  }

  std::int64_t count() const { return count_; }

  // Returns the index in the slice, padding included, of element `number` of the tensors.
  std::int64_t slice_index_of(std::int64_t number) const {
    const auto tensor = std::ranges::upper_bound(ends_, number);
    return number + shifts_[static_cast<std::size_t>(tensor - ends_.begin())];
  }

 private:
  std::int64_t count_ = 0;
  std::vector<std::int64_t> ends_;    // by tensor: number of elements up to its end
  std::vector<std::int64_t> shifts_;  // by tensor: padding before it
};

// Draws k distinct indices of elements with Floyd's algorithm: Bentley and Floyd, "A sample of
// brilliance", Communications of the ACM 30(9), 1987.
at::Tensor draw_indices(const TensorElements& elements, std::int64_t k, Random random) {
  const std::int64_t n = elements.count();
  PACELINE_CHECK(k <= n);
  at::Tensor places = at::empty({k}, at::kInt);
  auto* next = places.data_ptr<std::int32_t>();
  std::unordered_set<std::int64_t> taken;
  taken.reserve(static_cast<std::size_t>(k));
  for (std::int64_t last = n - k; last < n; ++last) {
    auto place = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last) + 1));
    if (!taken.insert(place).second) {
      place = last;
      taken.insert(place);
    }
    *next++ = static_cast<std::int32_t>(elements.slice_index_of(place));
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
  places.copy_(
      draw_indices(TensorElements(call.numbers), values.numel(), random_of(call.random, 0)));
  values.copy_(residual.index_select(0, places));
  residual.index_fill_(0, places.to(at::kLong), 0);
}

}  // namespace paceline::runtime
