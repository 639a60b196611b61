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

/// The tensors of one read or write of a kernel: a single flat slice, or, if the gradients are not
/// in a flat buffer, one tensor per parameter of the slice.
using Operand = std::vector<at::Tensor>;

/// The key from which a kernel's random numbers are computed. They therefore do not depend on
/// timing, and are equal on all ranks whose plans are equal.
struct RandomKey {
  std::uint64_t seed = 0;  // the job's
  plan::Step step = 0;
  plan::OpIndex op = 0;
};

/// Returns the random stream of a call.  Calls on several ranks draw the same numbers if they pass
/// the same `rank`.
inline Random random_of(const RandomKey& key, std::uint64_t rank) {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
  const auto step = static_cast<std::uint64_t>(key.step);
  const auto op = static_cast<std::uint64_t>(key.op);
  return Random(key.seed + rank * kGoldenRatio, step << 32U | op);
}

struct Call {
  std::vector<Operand> reads, writes;  // as the plan's kernel op lists them
  std::span<const double> numbers;
  plan::Slice written{};  // the first slice that the kernel op writes
  RandomKey random{};
  /// Reports that the rank is alive.  Kernels that may take seconds call it several times a second.
  std::function<void()> beat = [] {};
};

}  // namespace paceline::runtime
