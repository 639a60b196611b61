// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/case_findings.h"

#include <cmath>

#include <fmt/format.h>

#include "paceline/plan/cost.h"
#include "paceline/strategies/strategy.h"

namespace paceline::measure {

std::optional<records::Coding> coding_of(
    Trainer& trainer,
    const records::Configuration& configuration,
    std::int64_t ns) {
  auto spec = strategies::parse_strategy(
      configuration.strategy, {.bucket_mb = configuration.bucket_mb});
  if (spec.codec.row == nullptr ||
      spec.codec.row->guarantee == strategies::Guarantee::kNeutral ||
      trainer.input().world == 1 || configuration.device != "cpu") {
    return std::nullopt;
  }
  spec.codec = {&strategies::codecs().front(), {}};
  const auto plain = strategies::make_planner(spec);
  const plan::Setup setup = plain->setup(trainer.input());
  return records::Coding{
      .ns_per_step = ns / configuration.steps,
      .plain_bytes_per_step = plan::cost(setup,
                                         plain->plan(trainer.input(), setup, 0),
                                         trainer.input().rank)
                                  .wire_bytes};
}

std::optional<records::Training> training_of(const Trainer& trainer) {
  const std::optional<double> loss = trainer.last_loss();
  return loss && std::isfinite(*loss) ? std::optional(records::Training{*loss})
                                      : std::nullopt;
}

std::optional<std::string> failure_of(
    const Trainer& trainer, const records::Configuration& configuration) {
  const std::optional<double> loss = trainer.last_loss();
  if (!loss || std::isfinite(*loss)) {
    return std::nullopt;
  }
  return fmt::format(
      "the loss of the last step is {}: a lower --learning-rate than {} may "
      "keep it finite",
      std::isnan(*loss) ? "not a number" : "infinite",
      configuration.learning_rate);
}

}  // namespace paceline::measure
