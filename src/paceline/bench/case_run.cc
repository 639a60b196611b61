// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/case_run.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <regex>

#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/bench/team.h"
#include "paceline/bench/trace.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/plan/cost.h"
#include "paceline/train/trainer.h"
#include "paceline/train/window.h"

namespace paceline::bench {
namespace {

// Sums what no float rounds, through the very engine that was measured.
bool integers_add_up(comm::Channel& channel) {
  constexpr std::int64_t kCount = 100'003;  // no multiple of any small world
  const at::Tensor index = at::arange(kCount, at::kLong).remainder(251);
  const at::Tensor mine = (index * (channel.rank() + 1)).to(at::kFloat);
  channel.all_reduce(mine, plan::Reduce::kSum)->wait();
  const std::int64_t ranks = channel.world();
  const at::Tensor expected =
      (index * (ranks * (ranks + 1) / 2)).to(at::kFloat);
  return at::equal(mine.cpu(), expected);
}

std::map<std::string, bool> verify(train::Trainer& trainer,
                                   const record::Configuration& configuration,
                                   const train::Team& team,
                                   Bulletin& bulletin,
                                   const CaseOptions& options) {
  std::map<std::string, bool> verified;
  const auto guarantee =
      plan::parse_strategy(configuration.strategy,
                           {.bucket_mb = configuration.bucket_mb})
          .guarantee();
  if (team.world == 1 || guarantee != plan::Guarantee::kExact) {
    return verified;
  }
  const auto channel = team.engine->connect({.name = team.name + "/verify",
                                             .store = team.store,
                                             .rank = team.rank,
                                             .world = team.world,
                                             .interface = team.interface,
                                             .device = team.device});
  if (!team.device.is_cuda()) {
    verified["integer_sums"] = integers_add_up(*channel);
  }
  const std::string mine = std::to_string(trainer.parameter_digest());
  bulletin.post(fmt::format("digest/{}", team.rank), mine);
  verified["ranks_hold_equal_parameters"] =
      bulletin.read("digest/0", options.timeout) == mine;
  return verified;
}

// What the plans of steps first .. first + count - 1 send, a step.  Nothing
// where the first two steps of a performer are among them: it may then send
// more than is planned, as PyTorch's Reducer does when it orders its buckets.
std::optional<std::int64_t> planned_per_step(const train::Trainer& trainer,
                                             int first,
                                             int count) {
  const auto& planner = trainer.planner();
  std::map<plan::Variant, std::int64_t> bytes_of;
  std::int64_t total = 0;
  for (int step = first; step < first + count; ++step) {
    const plan::Variant variant = planner.variant(trainer.input(), step);
    if (!bytes_of.contains(variant)) {
      const plan::CommPlan plan =
          planner.plan(trainer.input(), trainer.setup(), variant);
      if (first < 2 && plan::has_performer(plan)) {
        return std::nullopt;
      }
      bytes_of[variant] =
          plan::cost(trainer.setup(), plan, trainer.input().rank).wire_bytes;
    }
    total += bytes_of.at(variant);
  }
  return total / count;
}

record::WireBytes wire_of(const train::Trainer& trainer,
                          const comm::Ledger& before,
                          const comm::Ledger& after,
                          const record::Configuration& configuration) {
  const int steps = configuration.steps;
  record::WireBytes wire;
  for (const auto& [pattern, bytes] : after.bytes) {
    const auto earlier = before.bytes.find(pattern);
    const std::int64_t in_window =
        bytes - (earlier == before.bytes.end() ? 0 : earlier->second);
    wire.by_pattern[pattern] = in_window / steps;
  }
  wire.measured_per_step = (after.total_bytes() - before.total_bytes()) / steps;
  wire.calls_per_step = (after.total_calls() - before.total_calls()) / steps;
  wire.planned_per_step =
      planned_per_step(trainer, configuration.warmup, steps);
  return wire;
}

std::function<void(plan::Step, const std::string&)> beat_of(
    const CaseOptions& options) {
  if (options.heart == nullptr) {
    return {};
  }
  return [heart = options.heart](plan::Step step, const std::string& op) {
    heart->beat(step, op);
  };
}

// For a step that hangs where nothing can wake it: files why, for whoever
// watches over the ranks, and ends this process where that is left to it.
std::function<void(const std::string&)> end_of(const comm::World& world) {
  return [&world](const std::string& why) {
    try {
      launch::post_failure(
          *world.board,
          {.rank = world.place.rank, .host = world.place.host, .text = why});
    } catch (const WorldError&) {
      std::_Exit(3);  // nobody is left to be told
    }
    if (world.place.launcher == "paceline" || world.place.world == 1) {
      std::_Exit(3);
    }
  };
}

// While it lives, only the communication thread's beats count.
std::unique_ptr<launch::Heartbeat::Claim> claim_of(const CaseOptions& options) {
  return options.heart == nullptr
             ? nullptr
             : std::make_unique<launch::Heartbeat::Claim>(*options.heart);
}

// All ranks compute at once, as in the measured window, but nothing is sent.
std::vector<std::int64_t> compute_only(
    const record::Configuration& configuration,
    const train::Team& team,
    Bulletin& bulletin,
    const CaseOptions& options) {
  record::Configuration alone = configuration;
  alone.strategy = "none";
  train::Team apart = team;
  apart.name += "/compute-only";
  train::Trainer trainer(
      alone, apart, {.timeout = options.timeout, .beat = beat_of(options)});
  const auto claim = claim_of(options);
  return train::measure(trainer,
                        {.warmup = std::min(alone.warmup, 2),
                         .steps = alone.steps,
                         .sync_each_step = alone.sync_each_step,
                         .line_up =
                             [&] {
                               bulletin.line_up("compute-only",
                                                team.world,
                                                std::chrono::milliseconds(0));
                             },
                         .progress = {}})
      .step_ns;
}

// What the trainer recorded, as spans of `rank` that begin at `origin_ns`.
std::vector<record::Span> take_spans(train::Trainer& trainer,
                                     int rank,
                                     std::int64_t origin_ns) {
  runtime::Executor& executor = trainer.executor();
  return spans_of({.ops = executor.take_spans(),
                   .phases = trainer.take_phases(),
                   .plan_of = [&](plan::Step step) -> const plan::CommPlan& {
                     return executor.plan_of(step);
                   }},
                  trainer.input().model,
                  trainer.setup(),
                  rank,
                  origin_ns);
}

}  // namespace

RankResult run_case(const comm::World& world,
                    const record::Configuration& configuration,
                    Bulletin& bulletin,
                    const CaseOptions& options) {
  reset_peak_memory();
  const auto engine = comm::make_engine(configuration.engine);
  const train::Team team =
      make_team(world, configuration, *engine, options.name, options.interface);
  RankResult result;
  bool exposes = false;
  {
    train::Trainer trainer(configuration,
                           team,
                           {.timeout = options.timeout,
                            .record_spans = options.record_spans,
                            .beat = beat_of(options),
                            .stuck = end_of(world)});
    const auto claim = claim_of(options);
    comm::Ledger before = trainer.ledger();
    const auto progress = [&](int done, int total) {
      if (done == configuration.warmup) {
        before = trainer.ledger();
      }
      if (options.progress) {
        options.progress(done, total);
      }
    };
    result.samples = train::measure(
        trainer,
        {.warmup = configuration.warmup,
         .steps = configuration.steps,
         .sync_each_step = configuration.sync_each_step,
         .line_up =
             [&] {
               bulletin.line_up(
                   "start", team.world, std::chrono::milliseconds(0));
               result.lined_up_ns = steady_ns();
             },
         .progress = progress});
    result.samples.peak_memory_bytes = peak_memory_bytes();
    result.wire = wire_of(trainer, before, trainer.ledger(), configuration);
    if (options.record_spans) {
      result.spans = take_spans(trainer, team.rank, result.lined_up_ns);
    }
    result.verified = verify(trainer, configuration, team, bulletin, options);
    exposes = communicates(trainer.planner().plan(
        trainer.input(),
        trainer.setup(),
        trainer.planner().variant(trainer.input(), 1'000)));
  }
  if (exposes && !configuration.discard) {
    result.samples.compute_only_step_ns =
        compute_only(configuration, team, bulletin, options);
  }
  result.samples.rank = team.rank;
  result.samples.device = team.device.str();
  return result;
}

namespace {

Probe probe(const comm::World& world,
            const record::Configuration& configuration,
            const CaseOptions& options) {
  const std::int64_t began = steady_ns();
  const auto engine = comm::make_engine(configuration.engine);
  const train::Team team =
      make_team(world, configuration, *engine, options.name, options.interface);
  train::Trainer trainer(configuration, team, {.timeout = options.timeout});
  const std::int64_t ready = steady_ns();
  trainer.step();
  trainer.drain();
  return {.setup_s = static_cast<double>(ready - began) * 1e-9,
          .step_s = static_cast<double>(steady_ns() - ready) * 1e-9,
          .memory_bytes = peak_memory_bytes().value_or(0)};
}

// "... you tried to allocate 123 bytes": what torch's allocator says; nothing
// for any other error.
std::optional<std::int64_t> refused_bytes(const std::string& message) {
  static const std::regex kTried("tried to allocate ([0-9]{1,18}) bytes");
  std::smatch match;
  if (!std::regex_search(message, match, kTried)) {
    return std::nullopt;
  }
  return std::stoll(match[1]);
}

}  // namespace

Probe probe_case(const comm::World& world,
                 record::Configuration configuration,
                 const CaseOptions& options) {
  configuration.ranks = 1;
  configuration.strategy = "none";
  reset_peak_memory();
  const auto too_large = [](std::int64_t refused) {
    return Probe{.memory_bytes = peak_memory_bytes().value_or(0) + refused,
                 .fits = false};
  };
  try {
    return probe(world, configuration, options);
  } catch (const std::bad_alloc&) {
    return too_large(0);
  } catch (const c10::Error& error) {
    if (const auto bytes = refused_bytes(error.what_without_backtrace())) {
      return too_large(*bytes);
    }
    throw;
  }
}

}  // namespace paceline::bench
