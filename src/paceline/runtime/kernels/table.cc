// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/move.h"
#include "paceline/runtime/kernels/update.h"

namespace paceline::runtime {
namespace {

constexpr auto kKernels = std::to_array<KernelInfo>({
    {.name = "update",
     .summary = "values, gradients, state..., learning_rate[, step_count][, "
                "applied_scale, found_inf] -> values, gradients, state...; "
                "numbers: divisor",
     .run = run_update,
     .takes_tensors = true},
    {.name = "count",
     .summary = "counter[, found_inf] -> counter + 1 - found_inf",
     .run = run_count},
    {.name = "copy",
     .summary = "slices -> slices; numbers: factor",
     .run = run_copy},
    {.name = "cast",
     .summary = "slice -> slice of another type",
     .run = run_cast},
    {.name = "check",
     .summary = "gradients -> gradients, found_inf",
     .run = run_check,
     .takes_tensors = true},
    {.name = "rescale",
     .summary = "found_inf, loss_scale, growth -> loss_scale, growth, "
                "applied_scale; numbers: growth factor, backoff factor, "
                "interval",
     .run = run_rescale},
});

}  // namespace

std::span<const KernelInfo> kernels() {
  return kKernels;
}

const KernelInfo& find_kernel(std::string_view name) {
  const auto* row = std::find_if(
      kKernels.begin(), kKernels.end(), [&](const KernelInfo& info) {
        return info.name == name;
      });
  if (row == kKernels.end()) {
    throw UsageError(fmt::format(
        "The plan names the kernel '{}', which this build does not have.",
        name));
  }
  return *row;
}

}  // namespace paceline::runtime
