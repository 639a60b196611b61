// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

struct IndexedValue {
  std::int32_t place = 0;
  double value = 0;

  double magnitude() const {
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : std::fabs(value);
  }
};

std::vector<IndexedValue> items_of(const at::Tensor& values, const at::Tensor& places) {
  const at::Tensor v = values.to(at::kCPU, at::kDouble).contiguous();
  const at::Tensor p = places.cpu().contiguous();
  std::vector<IndexedValue> items(static_cast<std::size_t>(v.numel()));
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = {p.const_data_ptr<std::int32_t>()[i], v.const_data_ptr<double>()[i]};
  }
  return items;
}

// Merges two lists into one value per index, in ascending order.  In double precision the sum of
// two values is exact, or it is rounded once when it is written.
std::vector<IndexedValue> merged_sum(const std::vector<IndexedValue>& a,
                                     const std::vector<IndexedValue>& b) {
  std::vector<IndexedValue> all;
  all.reserve(a.size() + b.size());
  auto left = a.begin(), right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->place < right->place)) {
      all.push_back(*left++);
    } else if (left == a.end() || right->place < left->place) {
      all.push_back(*right++);
    } else {
      all.push_back({left->place, left->value + right->value});
      ++left;
      ++right;
    }
  }
  return all;
}

std::vector<IndexedValue> largest_value_of(std::vector<IndexedValue> items, std::size_t k) {
  std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(k - 1), items.end(),
                   [](const IndexedValue& a, const IndexedValue& b) {
                     const double x = a.magnitude(), y = b.magnitude();
                     return x > y || (x == y && a.place < b.place);
                   });
  items.resize(k);
  std::ranges::sort(items, {}, &IndexedValue::place);
  return items;
}

}  // namespace

void run_gtopk_merge(const OptimizerSettings& /*rule*/, const Call& call) {
  const auto read = [&](std::size_t i) -> const at::Tensor& { return call.reads[i].front(); };
  const auto k = static_cast<std::size_t>(read(0).numel());
  PACELINE_CHECK(k > 0);
  const std::vector<IndexedValue> merged =
      largest_value_of(merged_sum(items_of(read(0), read(1)), items_of(read(2), read(3))), k);
  at::Tensor values = at::empty({read(0).numel()}, at::kDouble);
  at::Tensor places = at::empty({read(0).numel()}, at::kInt);
  for (std::size_t i = 0; i < k; ++i) {
    values.data_ptr<double>()[i] = merged[i].value;
    places.data_ptr<std::int32_t>()[i] = merged[i].place;
  }
  std::vector<std::int64_t> dropped;  // positions in the list of the own values
  const std::vector<IndexedValue> own = items_of(read(4), read(5));
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!std::ranges::binary_search(merged, own[i].place, {}, &IndexedValue::place)) {
      dropped.push_back(static_cast<std::int64_t>(i));
    }
  }
  const at::Tensor returned = at::tensor(dropped, at::kLong).to(read(4).device());
  call.writes[3].front().index_add_(0, read(5).index_select(0, returned),
                                    read(4).index_select(0, returned));
  call.writes[2].front().index_fill_(0, returned, 0);
  call.writes[0].front().copy_(values);
  call.writes[1].front().copy_(places);
}

}  // namespace paceline::runtime
