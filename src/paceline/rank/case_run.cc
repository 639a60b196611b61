// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/case_run.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/data_traits.h"
#include "paceline/rank/case_findings.h"
#include "paceline/rank/link_check.h"
#include "paceline/rank/rank_checks.h"
#include "paceline/rank/rank_group.h"
#include "paceline/rank/trace.h"
#include "paceline/rank/trainer.h"
#include "paceline/rank/weight_norms.h"
#include "paceline/rank/window.h"
#include "paceline/rank/wire.h"

namespace paceline::rank {
namespace {

using launch::Heartbeat;
using std::chrono::milliseconds;

// A failed step that still runs after this time is taken to be stuck.
constexpr milliseconds kStuckGrace{400};

// Returns the handler of a step that hangs and cannot be woken: it ends the process.
std::function<void(const std::exception_ptr&)> make_hang_handler(const engines::World& world,
                                                                 const CaseOptions& options) {
  return [&world, &options](const std::exception_ptr& why) {
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& error) {
      engines::end_failed_rank(world, options.limits.timeout, error, options.on_failure);
    }
  };
}

// Whether the rank is the master of a case with embedding tables on servers.  The master's plan is
// empty: it waits until all ranks are ready, and then until their windows have ended.
bool is_master(const cases::Case& c, int rank) { return c.role_of(rank) == "master"; }

// Returns a heartbeat claim for one trainer.  While the claim exists, the trainer's communication
// thread must send heartbeats.
std::unique_ptr<Heartbeat::Claim> make_heartbeat_claim(const CaseOptions& options) {
  return options.limits.heartbeat == nullptr
             ? nullptr
             : std::make_unique<Heartbeat::Claim>(*options.limits.heartbeat);
}

// The arguments that the functions which measure a case's steps have in common.
struct MeasurementContext {
  Trainer& trainer;
  const RankGroup& group;
  engines::Link* link;  // null if the case has no emulated link
  launch::PrefixStore& store;
  const CaseOptions& options;
};

// Measures blocks of steps with and without communication in turn.  In both kinds of block, all
// ranks that train compute at the same time.
void measure_exposed_communication(const engines::World& world, const MeasurementContext& window,
                                   records::RankSamples& samples) {
  const CaseOptions& options = window.options;
  const int ranks = window.group.world;
  cases::Case compute_only_case = window.trainer.configuration();
  compute_only_case.strategy = "none";
  compute_only_case.average_buffers = 0;  // averaging statistics communicates too
  RankGroup compute_only_group = window.group;
  compute_only_group.name += "/compute-only";
  compute_only_group.before_connecting = nullptr;  // servers have no steps without communication
  std::unique_ptr<Trainer> computing;
  if (window.trainer.trains()) {
    computing = std::make_unique<Trainer>(
        compute_only_case, compute_only_group,
        TrainerOptions{.dispatcher =
                           dispatcher_options(options.limits, make_hang_handler(world, options))});
  }
  const auto claim = computing != nullptr ? make_heartbeat_claim(options) : nullptr;
  int barriers = 0;
  measure_pairs(
      window.trainer, computing.get(),
      {.layout = pair_layout(window.trainer.configuration().steps),
       .sync_each_step = window.trainer.configuration().sync_each_step,
       .barrier = [&] { window.store.barrier(fmt::format("pairs/{}", barriers++), ranks); }},
      samples);
}

// Converts the events that the trainer has recorded, which it then drops, to spans of `rank`.
// Their times count from `origin_ns`.
std::vector<records::Span> take_spans(Trainer& trainer, std::vector<execution::OpSpan> ops,
                                      int rank, std::int64_t origin_ns) {
  return spans_of({.ops = std::move(ops),
                   .phases = trainer.take_phases(),
                   .transfers = trainer.take_transfers(),
                   .plan_of = std::bind_front(&Trainer::plan_of, &trainer)},
                  trainer.input().model, trainer.setup(), rank, origin_ns);
}

// Returns the trainer's options for the measured steps.
TrainerOptions window_options(const engines::World& world, const cases::Case& configuration,
                              const CaseOptions& options) {
  TrainerOptions window{
      .dispatcher = dispatcher_options(options.limits, make_hang_handler(world, options)),
      .profile = options.times.profile,
      .alpha_beta = options.times.alpha_beta};
  window.dispatcher.record_spans = options.record_spans || configuration.has_tables();
  window.dispatcher.grace = kStuckGrace;
  if (is_master(configuration, world.self.rank)) {
    window.dispatcher.heartbeat = nullptr;  // the master has no steps
  }
  return window;
}

void discard_warm_up_counts(const MeasurementContext& window) {
  window.trainer.executor().take_staleness();
  if (window.link != nullptr) {
    window.link->take_operations();
  }
}

// Returns a function for a measured window that ends early.  It adds the embedding lookups to the
// samples and passes them to CaseOptions::interrupted.
std::function<void(records::RankSamples)> make_interruption_handler(
    const MeasurementContext& window) {
  return [&](records::RankSamples so_far) {
    if (window.options.interrupted) {
      so_far.lookups = window.trainer.lookups();
      add_phases(window.trainer, window.trainer.executor().take_spans(), so_far);
      window.options.interrupted(std::move(so_far));
    }
  };
}

records::RankSamples run_measured_steps(const MeasurementContext& window,
                                        const std::function<void()>& begin,
                                        const std::function<void(int done, int total)>& progress) {
  const cases::Case& c = window.trainer.configuration();
  Trainer& trainer = window.trainer;
  if (is_master(c, window.group.rank)) {
    begin();
    return {};
  }
  const bool is_mapped = plan::is_mapped(c.data);
  const bool evaluates = !c.data.empty() && !is_mapped;
  std::function<records::Evaluation()> evaluate;
  if (evaluates) {
    evaluate = [&trainer, sent_before = trainer.ledger().total_bytes()] {
      records::Evaluation evaluation =
          trainer.trains() ? trainer.evaluate() : records::Evaluation{};
      evaluation.sent_bytes = trainer.ledger().total_bytes() - sent_before;
      return evaluation;
    };
  }
  const auto barrier = [&](int done) {
    if (done == 0) {
      begin();
    } else {
      window.store.barrier(fmt::format("evaluated/{}", done), window.group.world);
    }
  };
  return rank::measure(trainer,
                       {.warmup = c.warmup,
                        .steps = c.steps,
                        .sync_each_step = c.sync_each_step,
                        .reads_data = is_mapped,
                        .evaluate_every = c.evaluate_every,
                        .barrier = barrier,
                        .progress = progress,
                        // A report would take the last evaluation of a training that
                        // was interrupted for that of its end.
                        .interrupted = evaluates ? nullptr : make_interruption_handler(window),
                        .evaluate = std::move(evaluate)});
}

// Stores lookups, spans, memory and losses in `result` after the last measured step.
void store_findings(const MeasurementContext& window, RankResult& result) {
  Trainer& trainer = window.trainer;
  result.samples.lookups = trainer.take_lookups();
  if (window.link != nullptr) {
    result.linked = window.link->take_operations();
  }
  result.samples.peak_memory_bytes = peak_memory_bytes();
  result.training = final_loss_of(trainer);
  auto ops = trainer.executor().take_spans();
  add_phases(trainer, ops, result.samples);
  if (window.options.record_spans) {
    result.spans = take_spans(trainer, std::move(ops), window.group.rank, result.started_ns);
  }
  note_network(trainer, result);
  note_plan(trainer, result);
  result.times = {.profile = trainer.input().profile, .alpha_beta = trainer.input().alpha_beta};
}

// Measures the case's steps, and returns whether the case sends anything over the network.
bool measure_window(const MeasurementContext& window, RankResult& result) {
  Trainer& trainer = window.trainer;
  const cases::Case& c = window.trainer.configuration();
  const WeightNorms norms(trainer);
  std::int64_t coded_before = 0;
  const auto progress = [&](int done, int total) {
    if (done == c.warmup) {
      // Operations that are still in flight count as those of measured steps.
      discard_warm_up_counts(window);
      trainer.take_lookups();
      coded_before = trainer.executor().coding_ns();
    }
    note_loss(trainer, done, result);
    if (window.options.progress) {
      window.options.progress(done, total);
    }
  };
  const auto begin = [&] {
    discard_warm_up_counts(window);
    window.store.barrier("start", window.group.world);
    result.started_ns = steady_ns();
  };
  result.samples = run_measured_steps(window, begin, progress);
  if (c.has_tables()) {
    window.store.barrier("window", window.group.world);  // the master waits here
  }
  result.coding = codec_costs_of(trainer, trainer.executor().coding_ns() - coded_before);
  store_findings(window, result);
  norms.note_last(result);
  result.wire = trainer.wire(c.steps);
  result.verified = verify(trainer, window.group, window.store);
  if (!trainer.trains()) {  // only ranks that train give samples
    result.samples.peak_memory_bytes = std::exchange(result.samples, {}).peak_memory_bytes;
  }
  return window.group.world > 1 &&
         communicates(trainer.planner(), trainer.input(), c.warmup + c.steps);
}

}  // namespace

RankResult run_case(const engines::World& world, const cases::Case& configuration,
                    launch::PrefixStore& store, const CaseOptions& options) {
  reset_peak_memory();
  const std::shared_ptr<engines::Link> link = make_link(configuration);
  const auto engine = engines::make_engine(configuration.engine);
  RankGroup group = make_rank_group(world, configuration, *engine, options.name, options.interface);
  group.link = link;
  group.peers.idle = options.idle;
  group.peers.timeout = options.limits.timeout;
  group.before_connecting = [&, connections = 0]() mutable {
    store.barrier(fmt::format("connect/{}", connections++), group.world);
  };
  RankResult result;
  {
    Trainer trainer(configuration, group, window_options(world, configuration, options));
    if (options.limits.heartbeat != nullptr && !configuration.has_tables()) {
      options.limits.heartbeat->set_role(trainer.role());
    }
    store.barrier("connected", group.world);
    options.accepted();
    const auto claim = make_heartbeat_claim(options);
    const MeasurementContext window{trainer, group, link.get(), store, options};
    const bool crosses = measure_window(window, result);
    note_averages(trainer, group, result);
    result.error = loss_failure_of(trainer);
    if (crosses && !configuration.discard && configuration.data.empty()) {
      measure_exposed_communication(world, window, result.samples);
    }
  }
  if (configuration.stretch != 1) {
    divide_times_by_stretch(configuration.stretch, result);
  }
  result.samples.rank = group.rank;
  result.samples.device = group.device.str();
  return result;
}

}  // namespace paceline::rank
