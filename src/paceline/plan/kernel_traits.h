// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace paceline::plan {

/// What executors know of a kernel without libtorch.
struct KernelTraits {
  std::string_view name;  // as plans write it
  /// Nothing moves: the written memory is the read one.
  bool aliases = false;
  /// Applies the optimizer to the parameters that it writes first.
  bool optimizer = false;
  /// Is part of the optimizer's step, whose rate it is priced at.
  bool optimizer_step = false;
  /// Operands may be one tensor per parameter instead of a flat slice.
  bool takes_tensors = false;
  /// Belongs to a codec: it makes, or takes apart, what crosses.
  bool codes = false;
  /// It touches of operands of a fixed length only what the ragged ones name.
  bool gathers = false;
  /// Writes what memory holds at the start, which depends on nothing: it may run before the first
  /// step, whose time limits are no measure of it.
  bool starts = false;
  /// Times that it goes over the bytes that it reads and writes.
  double passes = 1;
  /// Phases of a step, as records name them.  One that no kernel ends lasts until the last message
  /// of what the kernel has written is sent.
  std::string_view begins{}, ends{};
};

/// Every kernel that plans may name; Program has the contracts.  A kernel's code is a row of
/// runtime/kernels/table.cc.
inline constexpr auto kKernels = std::to_array<KernelTraits>({
    {.name = "update", .optimizer = true, .optimizer_step = true, .takes_tensors = true},
    {.name = "count", .optimizer_step = true},
    {.name = "copy"},
    {.name = "view", .aliases = true},
    {.name = "cast", .codes = true},
    {.name = "linear"},
    {.name = "divide"},
    {.name = "multiply"},
    {.name = "check", .takes_tensors = true},
    {.name = "square_sum", .takes_tensors = true},
    {.name = "clip"},
    {.name = "rescale"},
    // The sum, its magnitudes, the selection among these, the marks of what is selected, and the
    // residual.
    {.name = "topk", .codes = true, .passes = 3},
    {.name = "scatter", .codes = true},
    {.name = "nesterov", .passes = 2},
    {.name = "slow_momentum", .passes = 2},
    {.name = "sign", .codes = true},
    {.name = "unsign", .codes = true},
    {.name = "vote", .codes = true},
    {.name = "sign8", .codes = true},
    {.name = "unsign8", .codes = true},
    {.name = "gtopk_merge", .codes = true},
    {.name = "random_k", .codes = true},
    {.name = "qsgd", .codes = true},
    {.name = "qsgd_sum", .codes = true},
    {.name = "powersgd_left", .codes = true},
    {.name = "powersgd_right", .codes = true},
    {.name = "powersgd_outer", .codes = true},
    // The sum, its norms, the signs, and the residual.
    {.name = "ef_sign", .codes = true, .passes = 2},
    {.name = "ef_sign_sum", .codes = true},
    {.name = "draw_rows", .starts = true},
    {.name = "deduplicate", .begins = "lookup"},
    {.name = "lookup", .gathers = true},
    {.name = "pool", .ends = "lookup"},
    {.name = "pool_gradient", .begins = "gradient_push"},
    {.name = "update_rows", .gathers = true},
    {.name = "update_all_rows"},
});

/// The row of `name`; null where there is none.
constexpr const KernelTraits* find_kernel_traits(std::string_view name) {
  const auto* row = std::ranges::find(kKernels, name, &KernelTraits::name);
  return row == kKernels.end() ? nullptr : row;
}

}  // namespace paceline::plan
