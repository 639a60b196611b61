// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace paceline::plan {

/// What executors know of a kernel without libtorch.
struct KernelTraits {
  std::string_view name;     // as plans write it
  std::string_view summary;  // reads -> writes; numbers
  /// Nothing moves: the written memory is the read one.
  bool aliases = false;
  /// Applies the optimizer to the parameters that it writes first.
  bool optimizer = false;
  /// Operands may be one tensor per parameter instead of a flat slice.
  bool takes_tensors = false;
  /// Times that it goes over the bytes that it reads and writes.
  double passes = 1;
};

/// Every kernel that plans may name; Program has the contracts.  A kernel's
/// code is a row of runtime/kernels/table.cc.
inline constexpr auto kKernels = std::to_array<KernelTraits>({
    {.name = "update",
     .summary = "values, gradients, state..., learning_rate[, step_count][, "
                "applied_scale, found_inf] -> values, gradients, state...; "
                "numbers: divisor",
     .optimizer = true,
     .takes_tensors = true},
    {.name = "count",
     .summary = "counter[, found_inf] -> counter + 1 - found_inf"},
    {.name = "copy", .summary = "slices -> slices; numbers: factor"},
    {.name = "view",
     .summary = "slices -> the same memory; numbers: 1",
     .aliases = true},
    {.name = "cast", .summary = "slice -> slice of another type"},
    {.name = "linear", .summary = "slices -> slice; numbers: a weight a slice"},
    {.name = "divide", .summary = "slice, one element -> slice"},
    {.name = "check",
     .summary = "gradients -> gradients, found_inf",
     .takes_tensors = true},
    {.name = "rescale",
     .summary = "found_inf, loss_scale, growth -> loss_scale, growth, "
                "applied_scale; numbers: growth factor, backoff factor, "
                "interval"},
    // The sum, its magnitudes, the selection among these, the marks of what is
    // selected, and the residual.
    {.name = "topk",
     .summary = "slice, residual -> values, places, residual",
     .passes = 3},
    {.name = "scatter", .summary = "[values, places] -> slice"},
    {.name = "nesterov",
     .summary = "anchor, outer momentum, sum -> anchor, outer momentum; "
                "numbers: rate, momentum, divisor",
     .passes = 2},
    {.name = "slow_momentum",
     .summary = "anchor, slow momentum, values, learning_rate -> anchor, slow "
                "momentum; numbers: rate, momentum",
     .passes = 2},
    {.name = "sign", .summary = "slice -> bits"},
    {.name = "unsign", .summary = "bits... -> slices"},
    {.name = "vote", .summary = "bits of all ranks -> bits"},
});

/// The row of `name`; null where there is none.
constexpr const KernelTraits* find_kernel_traits(std::string_view name) {
  const auto* row = std::ranges::find(kKernels, name, &KernelTraits::name);
  return row == kKernels.end() ? nullptr : row;
}

}  // namespace paceline::plan
