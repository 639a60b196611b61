// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/early_update.h"

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

void clip_in_place(Program& program) {
  const auto all = [&](std::string_view name) { return whole(program.setup(), name); };
  const Slice gradients = all(kGradients), scale = all(kAppliedScale);
  program.clip({{gradients}}, 1);
  program.kernel("divide", {{gradients}, {scale}}, {{gradients}});
  program.kernel("divide", {{scale}, {scale}}, {{scale}});  // updates then divide by 1
}

}  // namespace

void EarlyUpdate::compute(StrategyProgram& program) const {
  if (program.input().loss_scaling) {
    throw UsageError(
        fmt::format("{} updates before the last gradient is known, so the loss cannot be scaled; "
                    "take --dtype fp32 or bf16, or the update rule awc",
                    name_));
  }
  program.compute();
  if (clipping_ == Clipping::kInPlace && program.input().clip_norm > 0) {
    clip_in_place(program);
  }
}

PeriodicRule::PeriodicRule(std::string_view name, const Options& options)
    : EarlyUpdate(name), every_(options.count("every")) {
  if (every_ < 1 || every_ > kLongestInterval) {
    throw UsageError(
        fmt::format("{}:every={}: a number of steps from 1 to {} is wanted, because each step of "
                    "an interval is planned by itself",
                    name, every_, kLongestInterval));
  }
}

void PeriodicRule::send(const Bucket& bucket, StrategyProgram& program) const {
  if (program.turn() == 1) {
    program.start_exchange(bucket.values);
  }
}

void PeriodicRule::finish(const Bucket& bucket, StrategyProgram& program) const {
  if (program.turn() == 1) {
    program.finish_average(bucket.values);
  }
}

}  // namespace paceline::strategies
