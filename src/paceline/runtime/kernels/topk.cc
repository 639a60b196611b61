// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

using Bits = std::uint32_t;

// Returns a key that orders magnitudes: the bits of a number without its sign; NaN counts as
// infinity.
Bits magnitude_key(float value) {
  constexpr Bits kSign = Bits{1} << 31U;
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<float>::infinity());
  return std::min(std::bit_cast<Bits>(value) & ~kSign, kInfinity);
}

// Sums that may be among the k largest, in ascending order of their indices.
struct CandidateSums {
  std::vector<std::int32_t> places;
  std::vector<float> sums;

  void add(std::int64_t place, float sum) {
    places.push_back(static_cast<std::int32_t>(place));
    sums.push_back(sum);
  }
};

// The selected values and their indices.  A selected value becomes zero in the sums.
struct SelectedValues {
  std::span<float> values;
  std::span<std::int32_t> places;
};

constexpr std::int64_t kBlock = 16, kBlocks = 256;

// The loader chooses between the clones for different vector instructions before sanitizers are
// ready, so builds with sanitizers have no clones.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define PACELINE_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PACELINE_VECTOR_CLONES
#endif

// Adds kBlocks blocks, in the widest vector instructions of the machine.  Writes to `holding` the
// blocks with a magnitude of at least `bound`, where NaN is above infinity, and returns their
// number.
PACELINE_VECTOR_CLONES int add_blocks(float* __restrict sums, const float* __restrict addends,
                                      std::int32_t bound, int* __restrict holding) {
  int count = 0;
  for (int block = 0; block < kBlocks; ++block) {
    std::int32_t most = 0;
    // The loop has a constant number of iterations; otherwise -O2 would not vectorize it.
    for (int i = 0; i < kBlock; ++i) {
      sums[i] += addends[i];
      most = std::max(
          most, std::bit_cast<std::int32_t>(sums[i]) & std::numeric_limits<std::int32_t>::max());
    }
    sums += kBlock;
    addends += kBlock;
    holding[count] = block;
    count += most >= bound ? 1 : 0;
  }
  return count;
}

// Estimates, from a sample of the sums at equal distances, a magnitude such that probably somewhat
// more than k of the sums are at least as large.
Bits probable_bound(const float* sums, const float* addends, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kSampleSize = 1 << 14;
  const std::int64_t step = std::max<std::int64_t>(1, n / kSampleSize);
  std::vector<Bits> sample;
  for (std::int64_t i = 0; i < n; i += step) {
    sample.push_back(magnitude_key(sums[i] + addends[i]));
  }
  // The bound has a rank in the sample that is 4 standard deviations behind the expected rank of
  // the k-th largest sum, so that it is rarely too high.
  const double expected =
      static_cast<double>(k) / static_cast<double>(n) * static_cast<double>(sample.size());
  const auto place = std::min(std::ssize(sample) - 1,
                              static_cast<std::ptrdiff_t>(expected + 4 * std::sqrt(expected) + 4));
  std::ranges::nth_element(sample, sample.begin() + place, std::greater<>());
  return sample[static_cast<std::size_t>(place)];
}

// Adds `addends` to `sums`, and returns the sums whose magnitude is at least `bound`, with their
// indices.
CandidateSums add_and_find(float* sums, const float* addends, std::int64_t n, std::uint32_t bound) {
  CandidateSums found;
  const auto keep = [&](std::int64_t i) {
    if (magnitude_key(sums[i]) >= bound) {
      found.add(i, sums[i]);
    }
  };
  constexpr std::int64_t kSpan = kBlock * kBlocks;
  std::array<int, kBlocks> holding{};
  std::int64_t begin = 0;
  for (; begin + kSpan <= n; begin += kSpan) {
    const int count =
        add_blocks(sums + begin, addends + begin, static_cast<std::int32_t>(bound), holding.data());
    for (const int block : std::span(holding).first(static_cast<std::size_t>(count))) {
      for (std::int64_t i = 0; i < kBlock; ++i) {
        keep(begin + block * kBlock + i);
      }
    }
  }
  for (; begin < n; ++begin) {
    sums[begin] += addends[begin];
    keep(begin);
  }
  return found;
}

// Writes the k largest of the candidates to `taken`, and sets them to zero in `sums`. Of equal
// magnitudes, those at lower indices are taken.
void take(const CandidateSums& found, float* sums, const SelectedValues& taken) {
  const auto k = std::ssize(taken.places);
  std::vector<Bits> sorted;
  sorted.reserve(found.sums.size());
  for (const float sum : found.sums) {
    sorted.push_back(magnitude_key(sum));
  }
  std::ranges::nth_element(sorted, sorted.begin() + (k - 1), std::greater<>());
  const Bits least = sorted[static_cast<std::size_t>(k - 1)];
  std::int64_t equal = k - std::count_if(sorted.begin(), sorted.begin() + k,
                                         [&](Bits order) { return order > least; });
  std::size_t next = 0;
  for (std::size_t i = 0; i < found.places.size(); ++i) {
    const Bits order = magnitude_key(found.sums[i]);
    if (order > least || (order == least && equal-- > 0)) {
      taken.places[next] = found.places[i];
      taken.values[next++] = found.sums[i];
      sums[found.places[i]] = 0;
    }
  }
}

// Returns candidates among which are the k largest sums. One pass counts the sums by the high bits
// of their magnitude; a second pass collects the candidates.
CandidateSums find_by_counts(const float* sums, std::int64_t n, std::int64_t k) {
  constexpr int kBits = 11;
  constexpr int kShift = 31 - kBits;
  constexpr std::int64_t kCounterSets = 4;  // separate counters, so that increments do not wait for
                                            // each other
  std::array<std::array<std::uint32_t, std::size_t{1} << kBits>, kCounterSets> counts{};
  for (std::int64_t i = 0; i < n; ++i) {
    ++counts[i % kCounterSets][magnitude_key(sums[i]) >> kShift];
  }
  Bits group = (Bits{1} << kBits) - 1;
  const auto held = [&] {
    return std::int64_t{counts[0][group]} + counts[1][group] + counts[2][group] + counts[3][group];
  };
  std::int64_t found = held();
  while (found < k) {
    --group;
    found += held();
  }
  const Bits least_candidate = group << kShift;
  CandidateSums all;
  all.places.reserve(static_cast<std::size_t>(found));
  all.sums.reserve(static_cast<std::size_t>(found));
  for (std::int64_t i = 0; i < n; ++i) {
    if (magnitude_key(sums[i]) >= least_candidate) {
      all.add(i, sums[i]);
    }
  }
  return all;
}

// Adds the addends, and takes the k largest magnitudes of the sums, in ascending order of their
// indices; of equal magnitudes those at lower indices.
//
// If k is small against n, the candidates are found in the pass that adds, above a bound that a
// sample gives.  If fewer than k sums reach this bound, find_by_counts() looks at all sums.
void take_largest(float* sums, const float* addends, std::int64_t n, const SelectedValues& taken) {
  const auto k = std::ssize(taken.places);
  constexpr std::int64_t kMany = 1 << 16, kFew = 32;  // sampling pays if k <= n / kFew
  if (n >= kMany && k <= n / kFew) {
    // With a bound of zero, every sum would be a candidate.
    const Bits bound = std::max(probable_bound(sums, addends, n, k), Bits{1});
    auto found = add_and_find(sums, addends, n, bound);
    if (std::ssize(found.places) < k) {
      found = find_by_counts(sums, n, k);
    }
    take(found, sums, taken);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    sums[i] += addends[i];
  }
  take(find_by_counts(sums, n, k), sums, taken);
}

// Returns the indices of the k largest magnitudes, in ascending order, on any device; of equal
// magnitudes those at lower indices.
at::Tensor largest(const at::Tensor& values, std::int64_t k) {
  at::Tensor magnitudes = values.abs();
  magnitudes.masked_fill_(magnitudes.isnan(), std::numeric_limits<double>::infinity());
  const at::Tensor least =
      std::get<0>(magnitudes.topk(k, 0, /*largest=*/true, /*sorted=*/false)).min();
  at::Tensor taken = magnitudes >= least;
  if (taken.sum().item<std::int64_t>() > k) {
    const at::Tensor above = magnitudes > least;
    const at::Tensor equal = magnitudes == least;
    taken = above.logical_or(equal.logical_and(equal.cumsum(0) <= k - above.sum()));
  }
  return taken.nonzero().view({k});
}

// Whether the call's tensors have the types and the layout that the CPU loops above support.
bool runs_on_host(const Call& call) {
  const auto plain = [](const Operand& operand, at::ScalarType type) {
    const at::Tensor& tensor = operand.front();
    return tensor.is_cpu() && tensor.is_contiguous() && tensor.scalar_type() == type;
  };
  return plain(call.reads[0], at::kFloat) && plain(call.writes[0], at::kFloat) &&
         plain(call.writes[1], at::kInt) && plain(call.writes[2], at::kFloat);
}

}  // namespace

void run_topk(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& gradients = call.reads[0].front();
  const at::Tensor& values = call.writes[0].front();
  const at::Tensor& residual = call.writes[2].front();
  PACELINE_CHECK(residual.numel() <= std::numeric_limits<std::int32_t>::max());
  if (runs_on_host(call)) {
    const auto k = static_cast<std::size_t>(values.numel());
    take_largest(residual.data_ptr<float>(), gradients.const_data_ptr<float>(), residual.numel(),
                 {.values = {values.data_ptr<float>(), k},
                  .places = {call.writes[1].front().data_ptr<std::int32_t>(), k}});
    return;
  }
  residual.add_(gradients);
  const at::Tensor places = largest(residual, values.numel());
  values.copy_(residual.index_select(0, places));
  call.writes[1].front().copy_(places);
  residual.index_fill_(0, places, 0);
}

void run_scatter(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& sum = call.writes[0].front();
  sum.zero_();
  if (!call.reads.empty()) {
    sum.index_add_(0, call.reads[1].front(), call.reads[0].front());
  }
}

}  // namespace paceline::runtime
