// SPDX-License-Identifier: Apache-2.0
#include "paceline/kernel/table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/kernel/update.h"

namespace paceline::kernel {
namespace {

constexpr auto kKernels = std::to_array<KernelInfo>({
    {.name = "update",
     .summary = "values, gradients, state..., learning_rate[, step_count] -> "
                "values, gradients, state...; numbers: divisor",
     .run = run_update},
    {.name = "count", .summary = "counter -> counter + 1", .run = run_count},
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

}  // namespace paceline::kernel
