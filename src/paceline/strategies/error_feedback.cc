// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/error_feedback.h"

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/rules.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kResidual = "residual";

}  // namespace

void add_residual(const PlanInput& input, std::string_view codec, SetupBuilder& builder) {
  if (input.loss_scaling) {
    throw UsageError(
        fmt::format("{} keeps what does not cross for later steps, when the loss may be scaled "
                    "otherwise; take another dtype or another codec",
                    codec));
  }
  builder.add_buffer_like_values(kResidual);
}

Slice residual_of(const Slice& slice, const Program& program) {
  return same_range_in(kResidual, slice, program);
}

void forget_residual(const Slice& slice, Program& program) {
  if (find_buffer(program.setup(), kResidual)) {
    program.kernel("scatter", {}, {{residual_of(slice, program)}});
  }
}

}  // namespace paceline::strategies
