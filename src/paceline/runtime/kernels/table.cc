// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/move.h"
#include "paceline/runtime/kernels/outer.h"
#include "paceline/runtime/kernels/sign.h"
#include "paceline/runtime/kernels/topk.h"
#include "paceline/runtime/kernels/update.h"

namespace paceline::runtime {
namespace {

constexpr auto kRunnable = std::to_array<KernelInfo>({
    {"update", run_update},
    {"count", run_count},
    {"copy", run_copy},
    {"linear", run_linear},
    {"divide", run_divide},
    {"cast", run_cast},
    {"check", run_check},
    {"rescale", run_rescale},
    {"topk", run_topk},
    {"scatter", run_scatter},
    {"nesterov", run_nesterov},
    {"slow_momentum", run_slow_momentum},
    {"sign", run_sign},
    {"unsign", run_unsign},
    {"vote", run_vote},
});

}  // namespace

std::span<const KernelInfo> kernels() {
  return kRunnable;
}

const KernelInfo& find_kernel(std::string_view name) {
  const auto* row = std::find_if(
      kRunnable.begin(), kRunnable.end(), [&](const KernelInfo& info) {
        return info.name == name;
      });
  if (row == kRunnable.end()) {
    throw UsageError(fmt::format(
        "The plan names the kernel '{}', which this build does not have.",
        name));
  }
  return *row;
}

}  // namespace paceline::runtime
