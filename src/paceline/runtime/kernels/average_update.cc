// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/move.h"
#include "paceline/runtime/kernels/update.h"

// A weighted sum and the update of what it gives, block by block, so that the
// update finds the block in a cache: the bits are those of `linear`, then
// `update`.

namespace paceline::runtime {
namespace {

// Elements of a block, at least; each of some six operands is 64 KiB in fp32.
constexpr std::int64_t kLeastBlock = 1 << 14;

/// What the sum is of, and what is then updated in it.
struct AverageParts {
  Call sum, update;
  std::size_t tensors = 0;  // the first reads of `update` are by parameter
};

AverageParts average_parts(const Call& call) {
  const std::size_t slices = call.numbers.size() - 1;
  AverageParts parts;
  parts.sum.reads.assign(
      call.reads.begin(),
      call.reads.begin() + static_cast<std::ptrdiff_t>(slices));
  parts.sum.writes = {call.reads.front()};
  parts.sum.numbers = call.numbers.subspan(1);
  parts.update.reads = {call.writes.front()};
  parts.update.reads.insert(
      parts.update.reads.end(),
      call.reads.begin() + static_cast<std::ptrdiff_t>(slices),
      call.reads.end());
  parts.update.writes = call.writes;
  parts.update.numbers = call.numbers.first(1);
  parts.tensors = call.writes.size();
  return parts;
}

void sum_range(const UpdateRule& rule,
               const Call& sum,
               std::int64_t begin,
               std::int64_t end) {
  if (begin == end) {
    return;
  }
  Call part{.reads = {}, .writes = {}, .numbers = sum.numbers};
  for (const Operand& read : sum.reads) {
    part.reads.push_back({read.front().slice(0, begin, end)});
  }
  part.writes.push_back({sum.writes.front().front().slice(0, begin, end)});
  run_linear(rule, part);
}

/// Whether the i-th tensors of all operands lie alike in memory without gaps.
bool lie_alike(const AverageParts& parts, std::size_t i) {
  const at::Tensor& value = parts.update.reads[0][i];
  for (std::size_t r = 0; r < parts.tensors; ++r) {
    const at::Tensor& one = parts.update.reads[r][i];
    if (one.sizes() != value.sizes() || one.strides() != value.strides()) {
      return false;
    }
  }
  return value.is_non_overlapping_and_dense();
}

/// The update of some tensors, or parts of them, collected until it runs.
class UpdateBlock {
 public:
  explicit UpdateBlock(const AverageParts& parts) : parts_(parts) { clear(); }

  void add(std::size_t i) {
    for (std::size_t r = 0; r < parts_.tensors; ++r) {
      block_.reads[r].push_back(parts_.update.reads[r][i]);
    }
  }
  void add(std::size_t i, std::int64_t begin, std::int64_t count) {
    for (std::size_t r = 0; r < parts_.tensors; ++r) {
      const at::Tensor& one = parts_.update.reads[r][i];
      block_.reads[r].push_back(
          one.as_strided({count}, {1}, one.storage_offset() + begin));
    }
  }

  void run(const UpdateRule& rule) {
    if (!block_.reads[0].empty()) {
      run_update(rule, block_);
    }
    clear();
  }

 private:
  void clear() {
    block_ = parts_.update;
    for (std::size_t r = 0; r < parts_.tensors; ++r) {
      block_.reads[r].clear();
    }
  }

  const AverageParts& parts_;
  Call block_;
};

}  // namespace

void run_average_update(const UpdateRule& rule, const Call& call) {
  const at::NoGradGuard no_grad;
  PACELINE_CHECK(call.numbers.size() >= 2);
  const AverageParts parts = average_parts(call);
  const at::Tensor& whole = call.reads.front().front();
  const Operand& values = call.writes.front();
  if (!whole.is_cpu()) {
    run_linear(rule, parts.sum);
    run_update(rule, parts.update);
    return;
  }
  const auto begin_of = [&](std::size_t i) {
    return (static_cast<const std::byte*>(values[i].const_data_ptr()) -
            static_cast<const std::byte*>(whole.const_data_ptr())) /
           static_cast<std::int64_t>(whole.element_size());
  };
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, begin_of);
  UpdateBlock block(parts);
  std::int64_t done = 0;
  const auto run_to = [&](std::int64_t end) {
    sum_range(rule, parts.sum, done, end);
    block.run(rule);
    done = end;
  };
  for (const std::size_t i : order) {
    const std::int64_t begin = begin_of(i), count = values[i].numel();
    const std::int64_t step = lie_alike(parts, i) ? kLeastBlock : count;
    for (std::int64_t at = 0; at < count; at += step) {
      const std::int64_t piece = std::min(step, count - at);
      piece == count ? block.add(i) : block.add(i, at, piece);
      if (begin + at + piece - done >= kLeastBlock) {
        run_to(begin + at + piece);
      }
    }
  }
  run_to(whole.numel());
}

}  // namespace paceline::runtime
