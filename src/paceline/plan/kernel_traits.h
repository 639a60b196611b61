// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace paceline::plan {

/// The properties of a kernel that executors know without libtorch.
struct KernelTraits {
  std::string_view name;  // as in plans
  /// The kernel moves no bytes, because the memory that it writes is the memory that it reads.
  bool aliases = false;
  /// The kernel applies the optimizer to the parameters in its first written slice.
  bool optimizer = false;
  /// The kernel is part of the optimizer's step, and its time is predicted at the optimizer's rate.
  bool optimizer_step = false;
  /// Operands may be one tensor per parameter instead of a flat slice.
  bool takes_tensors = false;
  /// The kernel encodes or decodes compressed values for a codec.
  bool codes = false;
  /// The kernel accesses only those elements of its fixed-length operands that the indices in its
  /// ragged operands select.
  bool accesses_by_index = false;
  /// The kernel writes initial values of memory, which depend on no other values.  It may therefore
  /// run before the first step, and the time limit of a step does not apply to it.
  bool writes_initial_values = false;
  /// The number of passes over the bytes that it reads and writes.
  double passes = 1;
  /// The names of the phases of a step that start or end with this kernel, as records show them. A
  /// phase that no kernel ends lasts until the last message with values that its first kernel has
  /// written is sent.
  std::string_view begins{}, ends{};
};

/// All kernels that plans may name.  Their contracts are at class Program (plan/program.h), and
/// their code is in rows of runtime/kernels/table.cc.
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
    // The loops of topk compute the sum, its magnitudes, the selection, the marks of the selected
    // values and the residual; together they count as three passes.
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
    // The loops of ef_sign compute the sum, its norms, the signs and the residual; together they
    // count as two passes.
    {.name = "ef_sign", .codes = true, .passes = 2},
    {.name = "ef_sign_sum", .codes = true},
    {.name = "draw_rows", .writes_initial_values = true},
    {.name = "deduplicate", .begins = "lookup"},
    {.name = "lookup", .accesses_by_index = true},
    {.name = "pool", .ends = "lookup"},
    {.name = "pool_gradient", .begins = "gradient_push"},
    {.name = "update_rows", .accesses_by_index = true},
    {.name = "update_all_rows"},
});

/// Returns the traits of the kernel called `name`; null if there is none.
constexpr const KernelTraits* find_kernel_traits(std::string_view name) {
  const auto* row = std::ranges::find(kKernels, name, &KernelTraits::name);
  return row == kKernels.end() ? nullptr : row;
}

}  // namespace paceline::plan
