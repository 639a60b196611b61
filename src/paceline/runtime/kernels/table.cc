// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/table.h"

#include <algorithm>
#include <array>

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

constexpr auto kRunnable = std::to_array<KernelInfo>({
    {"update", run_update},
    {"count", run_count},
    {"copy", run_copy},
    {"linear", run_linear},
    {"divide", run_divide},
    {"multiply", run_multiply},
    {"cast", run_cast},
    {"check", run_check},
    {"rescale", run_rescale},
    {"square_sum", run_square_sum},
    {"clip", run_clip},
    {"topk", run_topk},
    {"scatter", run_scatter},
    {"nesterov", run_nesterov},
    {"slow_momentum", run_slow_momentum},
    {"sign", run_sign},
    {"unsign", run_unsign},
    {"vote", run_vote},
    {"sign8", run_sign8},
    {"unsign8", run_sign8},
    {"gtopk_merge", run_gtopk_merge},
    {"random_k", run_random_k},
    {"qsgd", run_qsgd},
    {"qsgd_sum", run_qsgd_sum},
    {"powersgd_left", run_powersgd_left},
    {"powersgd_right", run_powersgd_right},
    {"powersgd_outer", run_powersgd_outer},
    {"ef_sign", run_ef_sign},
    {"ef_sign_sum", run_ef_sign_sum},
    {"draw_rows", run_draw_rows},
    {"deduplicate", run_deduplicate},
    {"lookup", run_lookup},
    {"pool", run_pool},
    {"pool_gradient", run_pool_gradient},
    {"update_rows", run_update_rows},
    {"update_all_rows", run_update_all_rows},
});

}  // namespace

void KernelInfo::run(const OptimizerSettings& rule, const Call& call) const {
  const at::NoGradGuard no_grad;
  kernel(rule, call);
}

std::span<const KernelInfo> kernels() { return kRunnable; }

const KernelInfo& find_kernel(std::string_view name) {
  const auto* row = std::find_if(kRunnable.begin(), kRunnable.end(),
                                 [&](const KernelInfo& info) { return info.name == name; });
  if (row == kRunnable.end()) {
    throw UsageError(
        fmt::format("The plan names the kernel '{}', which this build does not have.", name));
  }
  return *row;
}

}  // namespace paceline::runtime
