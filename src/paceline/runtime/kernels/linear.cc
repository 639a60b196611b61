// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

// Computes a weighted sum of slices in one pass over memory: each slice is read once and the sum is
// written once.  PyTorch's operations, one after the other, would read and write the sum again for
// each slice.

namespace paceline::runtime {
namespace {

// Elements of a block, small enough that the block's sum stays in the cache.
constexpr std::int64_t kCacheBlock = 2048;

/// sum <- w0 a + w1 b + ..., or with `kAdds` sum <- sum + w0 a + w1 b + ...  All slices are read in
/// one loop, so that the processor prefetches each slice as a stream.
template <bool kAdds, class T, class... Same>
void sum_side_by_side(T* __restrict sum, const T* __restrict weights,
                      const Same* __restrict... slices) {
  for (std::int64_t i = 0; i < kCacheBlock; ++i) {
    T value = kAdds ? sum[i] : T{-0.0};  // -0 + x is x, also for x = -0
    const T* weight = weights;
    ((value += *weight++ * slices[i]), ...);
    sum[i] = value;
  }
}

/// Adds the block that begins at element `begin` of at most five slices, from slice `first` on;
/// returns the number of slices added.
template <bool kAdds, class T>
std::size_t sum_some(T* sum, const std::vector<const T*>& slices, const std::vector<T>& weights,
                     std::size_t first, std::int64_t begin) {
  const T* w = &weights[first];
  const auto at = [&](std::size_t i) { return slices[first + i] + begin; };
  switch (const std::size_t left = slices.size() - first; left) {
    case 1:
      sum_side_by_side<kAdds>(sum, w, at(0));
      return left;
    case 2:
      sum_side_by_side<kAdds>(sum, w, at(0), at(1));
      return left;
    case 3:
      sum_side_by_side<kAdds>(sum, w, at(0), at(1), at(2));
      return left;
    case 4:
      sum_side_by_side<kAdds>(sum, w, at(0), at(1), at(2), at(3));
      return left;
    default:
      sum_side_by_side<kAdds>(sum, w, at(0), at(1), at(2), at(3), at(4));
      return 5;
  }
}

/// Writes the weighted sum of the slices to `out`, which may be one of the slices.
template <class T>
void sum_blocks(const std::vector<const T*>& slices, const std::vector<T>& weights, T* out,
                std::int64_t count) {
  std::array<T, kCacheBlock> sum;
  std::int64_t begin = 0;
  for (; begin + kCacheBlock <= count; begin += kCacheBlock) {
    std::size_t done = sum_some<false>(sum.data(), slices, weights, 0, begin);
    while (done < slices.size()) {
      done += sum_some<true>(sum.data(), slices, weights, done, begin);
    }
    std::copy(sum.begin(), sum.end(), out + begin);
  }
  for (; begin < count; ++begin) {
    T rest = weights[0] * slices[0][begin];
    for (std::size_t i = 1; i < slices.size(); ++i) {
      rest += weights[i] * slices[i][begin];
    }
    out[begin] = rest;
  }
}

template <class T>
void sum_in_one_pass(const Call& call) {
  std::vector<const T*> slices;
  std::vector<T> weights;
  for (std::size_t i = 0; i < call.reads.size(); ++i) {
    slices.push_back(call.reads[i].front().const_data_ptr<T>());
    weights.push_back(static_cast<T>(call.numbers[i]));
  }
  const at::Tensor& out = call.writes[0].front();
  sum_blocks(slices, weights, out.mutable_data_ptr<T>(), out.numel());
}

/// Whether all slices are contiguous on the CPU and of one type, and each read slice is the written
/// slice or does not overlap it.
bool has_simple_layout(const Call& call) {
  const at::Tensor& out = call.writes[0].front();
  const auto* written = static_cast<const std::byte*>(out.const_data_ptr());
  const auto bytes = static_cast<std::ptrdiff_t>(out.nbytes());
  const auto alike = [&](const Operand& read) {
    const auto* data = static_cast<const std::byte*>(read.front().const_data_ptr());
    const bool apart = data >= written + bytes || written >= data + bytes;
    return read.front().scalar_type() == out.scalar_type() && read.front().is_contiguous() &&
           (data == written || apart);
  };
  return out.is_cpu() && out.is_contiguous() && std::ranges::all_of(call.reads, alike);
}

void sum_by_operations(const Call& call) {
  const at::Tensor& out = call.writes[0].front();
  const auto read = [&](std::size_t i) { return call.reads[i].front(); };
  // Weights of integer tensors must be integers.
  const auto weight = [&](std::size_t i) {
    return at::isIntegralType(out.scalar_type(), /*includeBool=*/false)
               ? at::Scalar(static_cast<std::int64_t>(call.numbers[i]))
               : at::Scalar(call.numbers[i]);
  };
  // The sum is computed in place if at most the first read overlaps the written slice.
  bool aliased = false;
  for (std::size_t i = 1; i < call.reads.size(); ++i) {
    aliased = aliased || read(i).is_alias_of(out);
  }
  at::Tensor sum = aliased ? at::empty_like(out) : out;
  at::mul_out(sum, read(0), weight(0));
  for (std::size_t i = 1; i < call.reads.size(); ++i) {
    sum.add_(read(i), weight(i));
  }
  if (aliased) {
    out.copy_(sum);
  }
}

}  // namespace

void run_linear(const OptimizerSettings& /*rule*/, const Call& call) {
  PACELINE_CHECK_EQ(call.reads.size(), call.numbers.size());
  if (call.reads.empty()) {
    call.writes[0].front().zero_();
    return;
  }
  const at::ScalarType type = call.writes[0].front().scalar_type();
  if (has_simple_layout(call) && type == at::kFloat) {
    sum_in_one_pass<float>(call);
  } else if (has_simple_layout(call) && type == at::kDouble) {
    sum_in_one_pass<double>(call);
  } else {
    sum_by_operations(call);
  }
}

}  // namespace paceline::runtime
