// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/base/random.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::runtime {

/// One read or write of a kernel: a flat slice, or the tensors in it, one per parameter, where the
/// gradients are not in a flat buffer.
using Operand = std::vector<at::Tensor>;

/// What a kernel keys its random numbers by, so that they are the same under any timing; equal on
/// all ranks whose plans are equal.
struct RandomKey {
  std::uint64_t seed = 0;  // of the job
  plan::Step step = 0;
  plan::OpIndex op = 0;
};

/// What a call draws from.  Calls on several ranks draw alike where `rank` is the same.
inline Random random_of(const RandomKey& key, std::uint64_t rank) {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
  const auto step = static_cast<std::uint64_t>(key.step);
  const auto op = static_cast<std::uint64_t>(key.op);
  return Random(key.seed + rank * kGoldenRatio, step << 32U | op);
}

struct Call {
  std::vector<Operand> reads, writes;  // as the plan's kernel op lists them
  std::span<const double> numbers;
  plan::Slice written{};  // the first that the kernel op writes
  RandomKey random{};
  /// Says that the rank is alive; for kernels that may take seconds, to be called several times a
  /// second.
  std::function<void()> beat = [] {};
};

}  // namespace paceline::runtime
