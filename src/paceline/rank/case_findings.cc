// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/case_findings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/plan/cost.h"
#include "paceline/plan/data_traits.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/one_host.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/wire.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

std::optional<records::PlannerTimes> planned_by(const Trainer& trainer) {
  const plan::PlanInput& input = trainer.input();
  if (!input.profile || !input.alpha_beta) {
    return std::nullopt;
  }
  records::PlannerTimes by{.profile_origin = input.profile->origin,
                           .forward_ps = input.profile->forward,
                           .backward_ps = input.profile->backward,
                           .costs_origin = input.alpha_beta->origin,
                           .costs = {},
                           .remark = trainer.planner().remark(input)};
  for (const plan::Pattern pattern : plan::kPatterns) {
    for (const plan::AlphaBetaPiece& piece : input.alpha_beta->of(pattern).pieces) {
      by.costs[std::string(plan::name_of(pattern))].push_back(
          {.from_bytes = piece.from_bytes,
           .alpha_s = plan::seconds_of(piece.alpha),
           .beta_s_per_byte = piece.beta_ps_per_byte * 1e-12});
    }
  }
  return by;
}

}  // namespace

std::optional<records::CodingCost> codec_costs_of(const Trainer& trainer, std::int64_t ns) {
  const cases::Case& configuration = trainer.configuration();
  const auto spec = strategies::strategy_of(configuration);
  if (spec.codec.row == nullptr || spec.codec.row->guarantee == strategies::Guarantee::kNeutral ||
      trainer.input().world == 1 || configuration.device != "cpu") {
    return std::nullopt;
  }
  const auto plain = strategies::make_planner(spec.without_codec());
  const plan::Setup setup = plain->setup(trainer.input());
  return records::CodingCost{
      .ns_per_step = ns / configuration.steps,
      .plain_bytes_per_step =
          plan::cost(setup, plain->plan(trainer.input(), setup, 0), trainer.input().rank)
              .wire_bytes};
}

std::optional<records::Training> final_loss_of(const Trainer& trainer) {
  const std::optional<double> loss = trainer.last_loss();
  return loss && std::isfinite(*loss) ? std::optional(records::Training{*loss}) : std::nullopt;
}

std::optional<std::string> loss_failure_of(const Trainer& trainer) {
  const std::optional<double> loss = trainer.last_loss();
  if (!loss || std::isfinite(*loss)) {
    return std::nullopt;
  }
  return fmt::format(
      "the loss of the last step is {}: a lower --learning-rate than {} may keep it finite",
      std::isnan(*loss) ? "not a number" : "infinite", trainer.configuration().learning_rate);
}

void note_plan(const Trainer& trainer, RankResult& result) {
  result.planned_by = planned_by(trainer);
  const cases::Case& c = trainer.configuration();
  if (trainer.input().rank > 0) {
    return;
  }
  const auto add = [&result](std::optional<records::Warning> warning) {
    if (warning) {
      result.warnings.push_back(*std::move(warning));
    }
  };
  add(partial_period_warning(trainer.planner(), trainer.input(), c.warmup, c.steps));
  const auto spec = strategies::strategy_of(c);
  // In a job with embedding tables, the strategy applies to the trainers only.
  add(predict::idle_codec_warning(spec, c.has_tables() ? c.trainers : c.ranks));
  if (!c.has_tables()) {
    add(predict::one_host_warning(spec, trainer.input()));
  }
}

void add_phases(Trainer& trainer, const std::vector<execution::OpSpan>& ops,
                records::RankSamples& samples) {
  const cases::Case& c = trainer.configuration();
  if (c.has_tables() && trainer.trains()) {
    samples.phase_ns.merge(kernel_phase_times(ops, std::bind_front(&Trainer::plan_of, &trainer),
                                              c.warmup, static_cast<int>(samples.step_ns.size())));
  }
}

void note_network(const Trainer& trainer, RankResult& result) {
  if (trainer.sample_flops() == 0) {
    return;
  }
  result.adapter["parameters"] = fmt::format("{}", trainer.input().model.elements());
  if (plan::is_mapped(trainer.configuration().data)) {
    result.adapter["data"] = trainer.configuration().data;
  }
  result.adapter["flops"] = fmt::format("{:.0f}", trainer.sample_flops());
}

void divide_times_by_stretch(double stretch, RankResult& result) {
  const auto shorten = [stretch](std::int64_t& ns) {
    ns = std::llround(static_cast<double>(ns) / stretch);
  };
  records::RankSamples& samples = result.samples;
  std::ranges::for_each(samples.step_ns, shorten);
  std::ranges::for_each(samples.compute_only_step_ns, shorten);
  std::ranges::for_each(samples.paired_step_ns, shorten);
  for (auto& [phase, times] : samples.phase_ns) {
    std::ranges::for_each(times, shorten);
  }
  shorten(samples.window_ns);
  if (samples.flush_ns) {
    shorten(*samples.flush_ns);
  }
  for (records::Span& span : result.spans) {
    shorten(span.start_ns);
    shorten(span.duration_ns);
  }
}

void note_loss(const Trainer& trainer, int done, RankResult& result) {
  const cases::Case& c = trainer.configuration();
  constexpr int kFifth = 5;  // frameworks are compared by the loss of this step
  if ((done != 1 && done != kFifth) || (done > c.warmup && c.device != "cpu")) {
    return;
  }
  if (const std::optional<double> loss = trainer.last_loss()) {
    result.adapter[done == 1 ? "loss_first" : "loss_fifth"] = fmt::format("{}", *loss);
  }
}

}  // namespace paceline::rank
