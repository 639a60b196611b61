// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/case_run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/engines/link_engine.h"
#include "paceline/engines/run_rank.h"
#include "paceline/measure/link_check.h"
#include "paceline/measure/pairs.h"
#include "paceline/measure/team.h"
#include "paceline/measure/trace.h"
#include "paceline/measure/trainer.h"
#include "paceline/measure/window.h"
#include "paceline/measure/wire.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::measure {
namespace {

// A rank without a heartbeat for --timeout has failed.  The ranks that wait for
// it give up later than that is detected: two heartbeats and a poll later.
constexpr std::chrono::seconds kDetectionFirst{3};

using std::chrono::milliseconds;

// Sums what no float rounds, through the very engine that was measured.
bool integers_add_up(engines::Channel& channel) {
  constexpr std::int64_t kCount = 100'003;  // no multiple of any small world
  const at::Tensor index = at::arange(kCount, at::kLong).remainder(251);
  const at::Tensor mine = (index * (channel.rank() + 1)).to(at::kFloat);
  channel.all_reduce(mine, plan::Reduce::kSum)->wait();
  const std::int64_t ranks = channel.world();
  const at::Tensor expected =
      (index * (ranks * (ranks + 1) / 2)).to(at::kFloat);
  return at::equal(mine.cpu(), expected);
}

std::optional<records::PlannedBy> planned_by(const plan::Planner& planner,
                                             const plan::PlanInput& input) {
  if (!input.profile || !input.alpha_beta) {
    return std::nullopt;
  }
  records::PlannedBy by{.profile_origin = input.profile->origin,
                        .forward_ps = input.profile->forward,
                        .backward_ps = input.profile->backward,
                        .costs_origin = input.alpha_beta->origin,
                        .costs = {},
                        .remark = planner.remark(input)};
  for (const plan::Pattern pattern : {plan::Pattern::kAllReduce,
                                      plan::Pattern::kReduceScatter,
                                      plan::Pattern::kAllGather,
                                      plan::Pattern::kBroadcast}) {
    for (const plan::AlphaBetaPiece& piece :
         input.alpha_beta->of(pattern).pieces) {
      by.costs[std::string(plan::name_of(pattern))].push_back(
          {.from_bytes = piece.from_bytes,
           .alpha_s = plan::seconds_of(piece.alpha),
           .beta_s_per_byte = piece.beta_ps_per_byte * 1e-12});
    }
  }
  return by;
}

std::function<std::shared_ptr<void>()> hold_of(
    const CaseOptions& options, launch::Heartbeat::Hold::For what) {
  if (options.heartbeat == nullptr) {
    return {};
  }
  return [heartbeat = options.heartbeat, what] {
    return std::make_shared<launch::Heartbeat::Hold>(*heartbeat, what);
  };
}

std::map<std::string, bool> verify(measure::Trainer& trainer,
                                   const records::Configuration& configuration,
                                   const measure::Team& team,
                                   launch::PrefixStore& store,
                                   const CaseOptions& options) {
  std::map<std::string, bool> verified;
  const auto guarantee =
      strategies::parse_strategy(configuration.strategy,
                                 {.bucket_mb = configuration.bucket_mb})
          .guarantee();
  const bool equal_ranks = guarantee == strategies::Guarantee::kExact ||
                           guarantee == strategies::Guarantee::kCompressed;
  if (team.world == 1 || !equal_ranks) {
    return verified;
  }
  const auto hold = hold_of(options, launch::Heartbeat::Hold::For::kPeers);
  auto held = hold ? hold() : nullptr;
  const auto channel = team.engine->connect({.name = team.name + "/verify",
                                             .store = team.store,
                                             .rank = team.rank,
                                             .world = team.world,
                                             .interface = team.interface,
                                             .device = team.device});
  if (!team.device.is_cuda()) {
    verified["integer_sums"] = integers_add_up(*channel);
  }
  held.reset();
  if (!configuration.replay.empty() || !trainer.trains()) {
    return verified;  // no parameters
  }
  const std::string mine = std::to_string(trainer.parameter_digest());
  store.set(fmt::format("digest/{}", team.rank), mine);
  verified["ranks_hold_equal_parameters"] =
      store.wait("digest/0", options.timeout) == mine;
  return verified;
}

std::function<void(plan::Step, const std::string&)> beat_of(
    const CaseOptions& options) {
  if (options.heartbeat == nullptr) {
    return {};
  }
  return
      [heartbeat = options.heartbeat](plan::Step step, const std::string& op) {
        heartbeat->beat(step, op);
      };
}

// For a step that hangs and cannot be woken: ends this process.
std::function<void(const std::exception_ptr&)> end_of(
    const engines::World& world, milliseconds timeout) {
  return [&world, timeout](const std::exception_ptr& why) {
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& error) {
      engines::end_failed_rank(world, timeout, error);
    }
  };
}

// While it lives, only the communication thread's beats count.
std::unique_ptr<launch::Heartbeat::Claim> claim_of(const CaseOptions& options) {
  return options.heartbeat == nullptr
             ? nullptr
             : std::make_unique<launch::Heartbeat::Claim>(*options.heartbeat);
}

std::function<const plan::CommPlan&(plan::Step)> plans_of(
    measure::Trainer& trainer) {
  return [&trainer](plan::Step step) -> const plan::CommPlan& {
    return trainer.executor().plan_of(step);
  };
}

// Blocks of steps with and without communication in turn, all ranks that train
// computing at once in both.
void measure_exposed(const engines::World& world,
                     const records::Configuration& configuration,
                     const measure::Team& team,
                     launch::PrefixStore& store,
                     const CaseOptions& options,
                     measure::Trainer& communicating,
                     records::RankSamples& samples) {
  records::Configuration alone = configuration;
  alone.strategy = "none";
  measure::Team apart = team;
  apart.name += "/compute-only";
  // The communicating trainer's thread sends the heartbeats.
  std::unique_ptr<measure::Trainer> computing;
  if (communicating.trains()) {
    computing = std::make_unique<measure::Trainer>(
        alone,
        apart,
        measure::TrainerOptions{
            .timeout = options.timeout + kDetectionFirst,
            .first_step = options.first_step,
            .training_timeout = options.timeout,
            .in_step = hold_of(options, launch::Heartbeat::Hold::For::kWatched),
            .waits = hold_of(options, launch::Heartbeat::Hold::For::kPeers),
            .stuck = end_of(world, options.timeout)});
  }
  int barriers = 0;
  measure_pairs(communicating,
                computing.get(),
                {.layout = pair_layout(configuration.steps),
                 .sync_each_step = configuration.sync_each_step,
                 .barrier =
                     [&] {
                       store.barrier(fmt::format("pairs/{}", barriers++),
                                     team.world);
                     }},
                samples);
}

// What the trainer recorded, as spans of `rank` that begin at `origin_ns`.
std::vector<records::Span> take_spans(measure::Trainer& trainer,
                                      int rank,
                                      std::int64_t origin_ns) {
  return spans_of({.ops = trainer.executor().take_spans(),
                   .phases = trainer.take_phases(),
                   .transfers = trainer.take_transfers(),
                   .plan_of = plans_of(trainer)},
                  trainer.input().model,
                  trainer.setup(),
                  rank,
                  origin_ns);
}

// The trainer's options in the measured window.
measure::TrainerOptions window_options(const engines::World& world,
                                       const CaseOptions& options) {
  return {.timeout = options.timeout + kDetectionFirst,
          .first_step = options.first_step,
          .training_timeout = options.timeout,
          .record_spans = options.record_spans,
          .profile = options.times.profile,
          .alpha_beta = options.times.alpha_beta,
          .beat = beat_of(options),
          .in_step = hold_of(options, launch::Heartbeat::Hold::For::kWatched),
          .waits = hold_of(options, launch::Heartbeat::Hold::For::kPeers),
          .stuck = end_of(world, options.timeout)};
}

// The window of steps that are measured, with all communication.  Says whether
// anything crosses the network.  `link` may be null.
bool measure_window(measure::Trainer& trainer,
                    const records::Configuration& configuration,
                    const measure::Team& team,
                    engines::Link* link,
                    launch::PrefixStore& store,
                    const CaseOptions& options,
                    RankResult& result) {
  // A schedule that crosses the step border sends the end of its warm-up within
  // the window, so all steps are counted.  A performer's first steps differ
  // from the others and cross no border: there the window alone is.
  const auto plan_of = plans_of(trainer);
  const int first = plan::has_performer(plan_of(0)) ? configuration.warmup : 0;
  engines::Ledger before = trainer.ledger();
  const auto forget_operations = [&] {
    if (link != nullptr) {
      link->take_operations();
    }
  };
  const auto progress = [&](int done, int total) {
    if (done == first) {
      before = trainer.ledger();
    }
    if (done == configuration.warmup) {
      forget_operations();  // those under way are of the measured steps
    }
    if (options.progress) {
      options.progress(done, total);
    }
  };
  result.samples =
      measure::measure(trainer,
                       {.warmup = configuration.warmup,
                        .steps = configuration.steps,
                        .sync_each_step = configuration.sync_each_step,
                        .barrier =
                            [&] {
                              forget_operations();
                              store.barrier("start", team.world);
                              result.started_ns = steady_ns();
                            },
                        .progress = progress});
  if (link != nullptr) {
    result.linked = link->take_operations();
  }
  result.samples.peak_memory_bytes = peak_memory_bytes();
  const Window window{
      .first = first,
      .steps = configuration.warmup + configuration.steps - first,
      .rank = team.rank,
      .setup = trainer.setup(),
      .plan_of = plan_of};
  result.wire = wire_of(window, before, trainer.ledger());
  if (options.record_spans) {
    result.spans = take_spans(trainer, team.rank, result.started_ns);
  }
  result.planned_by = planned_by(trainer.planner(), trainer.input());
  result.times = {.profile = trainer.input().profile,
                  .alpha_beta = trainer.input().alpha_beta};
  result.verified = verify(trainer, configuration, team, store, options);
  if (!trainer.trains()) {  // samples come from ranks that train
    records::RankSamples served;
    served.peak_memory_bytes = result.samples.peak_memory_bytes;
    result.samples = std::move(served);
  }
  return team.world > 1 &&
         communicates(trainer.planner(),
                      trainer.input(),
                      configuration.warmup + configuration.steps);
}

// What the engine's own clock was slower by.
void unstretch(double stretch, RankResult& result) {
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

}  // namespace

RankResult run_case(const engines::World& world,
                    const records::Configuration& configuration,
                    launch::PrefixStore& store,
                    const CaseOptions& options) {
  reset_peak_memory();
  const std::shared_ptr<engines::Link> link = make_link(configuration);
  auto engine = engines::make_engine(configuration.engine);
  if (link != nullptr) {
    engine = engines::behind_link(std::move(engine), link);
  }
  const measure::Team team =
      make_team(world, configuration, *engine, options.name, options.interface);
  RankResult result;
  {
    measure::Trainer trainer(
        configuration, team, window_options(world, options));
    const auto claim = claim_of(options);
    const bool crosses = measure_window(
        trainer, configuration, team, link.get(), store, options, result);
    if (crosses && !configuration.discard) {
      measure_exposed(
          world, configuration, team, store, options, trainer, result.samples);
    }
  }
  if (configuration.stretch != 1) {
    unstretch(configuration.stretch, result);
  }
  result.samples.rank = team.rank;
  result.samples.device = team.device.str();
  return result;
}

}  // namespace paceline::measure
