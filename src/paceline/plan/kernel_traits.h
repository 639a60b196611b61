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
  /// Is part of the optimizer's step, whose rate it is priced at.
  bool optimizer_step = false;
  /// Operands may be one tensor per parameter instead of a flat slice.
  bool takes_tensors = false;
  /// Belongs to a codec: it makes, or takes apart, what crosses.
  bool codes = false;
  /// It touches of operands of a fixed length only what the ragged ones name.
  bool gathers = false;
  /// Times that it goes over the bytes that it reads and writes.
  double passes = 1;
  /// Phases of a step, as records name them.  One that no kernel ends lasts
  /// until the last message of what the kernel has written is sent.
  std::string_view begins{}, ends{};
};

/// Every kernel that plans may name; Program has the contracts.  A kernel's
/// code is a row of runtime/kernels/table.cc.
inline constexpr auto kKernels = std::to_array<KernelTraits>({
    {.name = "update",
     .summary = "values, gradients, state..., learning_rate[, step_count][, "
                "applied_scale, found_inf] -> values, gradients, state...; "
                "numbers: divisor",
     .optimizer = true,
     .optimizer_step = true,
     .takes_tensors = true},
    {.name = "count",
     .summary = "counter[, found_inf] -> counter + 1 - found_inf",
     .optimizer_step = true},
    {.name = "copy", .summary = "slices -> slices; numbers: factor"},
    {.name = "view",
     .summary = "slices -> the same memory; numbers: 1",
     .aliases = true},
    {.name = "cast",
     .summary = "slice -> slice of another type",
     .codes = true},
    {.name = "linear", .summary = "slices -> slice; numbers: a weight a slice"},
    {.name = "divide", .summary = "slice, one element -> slice"},
    {.name = "multiply", .summary = "slice, one element -> slice"},
    {.name = "check",
     .summary = "gradients -> gradients, found_inf",
     .takes_tensors = true},
    {.name = "square_sum",
     .summary = "slices -> one element, the sum of their squares",
     .takes_tensors = true},
    {.name = "clip",
     .summary = "squares[, applied_scale] -> applied_scale; numbers: largest "
                "norm, divisor, copies"},
    {.name = "rescale",
     .summary = "found_inf, loss_scale, growth -> loss_scale, growth, "
                "applied_scale; numbers: growth factor, backoff factor, "
                "interval"},
    // The sum, its magnitudes, the selection among these, the marks of what is
    // selected, and the residual.
    {.name = "topk",
     .summary = "slice, residual -> values, places, residual",
     .codes = true,
     .passes = 3},
    {.name = "scatter", .summary = "[values, places] -> slice", .codes = true},
    {.name = "nesterov",
     .summary = "anchor, outer momentum, sum -> anchor, outer momentum; "
                "numbers: rate, momentum, divisor",
     .passes = 2},
    {.name = "slow_momentum",
     .summary = "anchor, slow momentum, values, learning_rate -> anchor, slow "
                "momentum; numbers: rate, momentum",
     .passes = 2},
    {.name = "sign", .summary = "slice -> bits", .codes = true},
    {.name = "unsign", .summary = "bits... -> slices", .codes = true},
    {.name = "vote", .summary = "bits of all ranks -> bits", .codes = true},
    {.name = "sign8",
     .summary = "slice -> its signs, a byte each",
     .codes = true},
    {.name = "unsign8", .summary = "sums of signs... -> slices", .codes = true},
    {.name = "gtopk_merge",
     .summary = "values, places, other values, other places, own values, own "
                "places, residual -> values, places, own values, residual",
     .codes = true},
    {.name = "random_k",
     .summary = "slice, residual -> values, places, residual",
     .codes = true},
    {.name = "qsgd",
     .summary = "slice -> codes and norms; numbers: levels, block, rank",
     .codes = true},
    {.name = "qsgd_sum",
     .summary = "codes and norms of all ranks -> slice; numbers: levels, "
                "block",
     .codes = true},
    {.name = "powersgd_left",
     .summary = "slice, residual[, right] -> left, residual[, right]; numbers: "
                "begin, rows, columns, rank of each tensor",
     .codes = true},
    {.name = "powersgd_right",
     .summary = "left, residual -> left, right; numbers: as powersgd_left",
     .codes = true},
    {.name = "powersgd_outer",
     .summary = "left, residual[, right] -> slice, residual; numbers: as "
                "powersgd_left, then the ranks",
     .codes = true},
    // The sum, its norms, the signs, and the residual.
    {.name = "ef_sign",
     .summary = "slice, residual -> bits and scales, residual; numbers: the "
                "begin and the end of each tensor",
     .codes = true,
     .passes = 2},
    {.name = "ef_sign_sum",
     .summary = "bits and scales of all ranks -> slice; numbers: the begin and "
                "the end of each tensor",
     .codes = true},
    {.name = "draw_rows", .summary = " -> rows; numbers: job, server"},
    {.name = "deduplicate",
     .summary = " -> ids..., index, offsets; numbers: job, trainer",
     .begins = "lookup"},
    {.name = "lookup",
     .summary = "rows, ids -> rows of the ids; numbers: job, server",
     .gathers = true},
    {.name = "pool",
     .summary = "rows, index, offsets -> bags; numbers: job, trainer",
     .ends = "lookup"},
    {.name = "pool_gradient",
     .summary = "bags, ids, index, offsets -> gradients of rows; numbers: "
                "job, trainer",
     .begins = "gradient_push"},
    {.name = "update_rows",
     .summary = "rows, [ids, gradients]...[, state] -> rows[, state]; "
                "numbers: job, server",
     .gathers = true},
});

/// The row of `name`; null where there is none.
constexpr const KernelTraits* find_kernel_traits(std::string_view name) {
  const auto* row = std::ranges::find(kKernels, name, &KernelTraits::name);
  return row == kKernels.end() ? nullptr : row;
}

}  // namespace paceline::plan
