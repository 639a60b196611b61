// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/predict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/plan/strategy.h"
#include "paceline/sim/engine_choice.h"
#include "paceline/sim/engines.h"
#include "paceline/sim/hosted.h"
#include "paceline/sim/kernel_costs.h"
#include "paceline/sim/priced_on.h"
#include "paceline/sim/roofline.h"

namespace paceline::sim {
namespace {

constexpr int kBatch = 32;  // where nobody says
constexpr Step kWarmup = 2;
constexpr Step kMostPeriods = 8;  // that are simulated until steps repeat

const plan::DeviceThroughput* throughput_of(const PredictRequest& request) {
  const plan::DeviceThroughput* found = nullptr;
  for (const auto& row : request.cluster.device.throughputs) {
    if (row.model == request.network.model.name &&
        (request.batch_size == 0 || row.batch_size == request.batch_size)) {
      found = &row;
    }
  }
  return found;
}

plan::PlanInput input_of(const PredictRequest& request) {
  plan::PlanInput input;
  input.model = request.network.model;
  input.world = request.ranks;
  input.local_world = plan::ranks_per_host(request.cluster, request.ranks);
  input.optimizer.name = request.optimizer;
  input.optimizer.state_buffers = request.optimizer == "adamw" ? 2 : 1;
  return input;
}

constexpr double kLongestStep = 3600;  // picoseconds hold a thousand of them

/// How long one device takes for a batch.
Picoseconds step_of(int batch_size, double samples_per_s) {
  if (!is_device_rate(samples_per_s)) {
    throw UsageError(
        fmt::format("{:g} samples/s of one device: must be from {} to {:.0f}",
                    samples_per_s,
                    kLeastDeviceRate,
                    kMostDeviceRate));
  }
  const double seconds = batch_size / samples_per_s;
  if (seconds > kLongestStep) {
    throw UsageError(fmt::format(
        "{:g} samples/s of one device: a step of {} samples takes {:g} s, at "
        "most {} can be",
        samples_per_s,
        batch_size,
        seconds,
        kLongestStep));
  }
  return plan::picoseconds_of(seconds);
}

/// A hop that takes so long is TCP/IP's; over RDMA it takes 1 to 3 us.
constexpr Picoseconds kTcpLatency = 10'000'000;

/// Of the largest host, where every slot has its own.
std::int64_t bytes_per_s_of_cards(const plan::Cluster& cluster,
                                  const LinkModel& network) {
  double cards = 1;
  if (network.sharing == plan::LinkSharing::kDevice) {
    for (const auto& host : cluster.hosts) {
      cards = std::max(cards, static_cast<double>(host.slots));
    }
  }
  return std::llround(std::min(cards * static_cast<double>(network.bytes_per_s),
                               static_cast<double>(kMostBytesPerSecond)));
}

/// The cluster's links as the engine's collectives find them.
Machine machine_for(const PredictRequest& request, const EngineCosts& engine) {
  Machine machine = machine_of(request.cluster, engine.name);
  machine.device.bytes_per_s = std::max<std::int64_t>(
      1,
      std::llround(static_cast<double>(machine.device.bytes_per_s) *
                   engine.device_share));
  const bool tcp = machine.network.latency >= kTcpLatency;
  if (tcp && engine.tcp_copies) {
    machine.copies_bytes_per_s =
        bytes_per_s_of_cards(request.cluster, machine.network);
  }
  if (engine.tcp_s_per_byte > 0 && tcp) {
    machine.network.bytes_per_s =
        slowed_rate(machine.network.bytes_per_s, engine.tcp_s_per_byte);
  }
  if (engine.under_compute > 0) {
    machine.interference.device_link_under_compute = engine.under_compute;
  }
  if (machine.algorithm != Algorithm::kMeasured) {
    machine.algorithm = engine.algorithm;
  }
  return machine;
}

Costs costs_of(const PredictRequest& request,
               const EngineCosts& software,
               const plan::PlanInput& input,
               std::vector<record::Warning>& warnings) {
  const std::string engine(software.name);
  Costs costs;
  costs.machine =
      request.machine ? *request.machine : machine_for(request, software);
  costs.machine.noise = request.noise;
  if (request.algorithm) {
    costs.machine.algorithm = algorithm_named(*request.algorithm);
  }
  if (!request.machine) {
    check_fits(request.cluster, engine, costs.machine, warnings);
    if (!request.samples_per_s) {
      check_device(request.profile_device, request.cluster, engine, warnings);
    }
  }
  if (!request.machine && !request.software) {
    check_scale(engine, request.ranks, costs.machine, warnings);
  }
  if (request.software) {
    costs.software = *request.software;
  } else {
    costs.software = software.costs;
    costs.software.kernels = kernels_of(request, input);
  }
  return costs;
}

/// What one device's step leaves to forward and backward: its rate was measured
/// with the update, whose memory passes come behind them.
Picoseconds model_work_of(double samples_per_s,
                          int batch_size,
                          double update_s) {
  const Picoseconds step = step_of(batch_size, samples_per_s);
  const Picoseconds update = plan::picoseconds_of(update_s);
  if (update >= step) {
    throw UsageError(fmt::format(
        "{} samples/s of one device, a step of {:.3f} ms: the update alone "
        "takes {:.3f} ms at the device's memory bandwidth",
        samples_per_s,
        1e3 * plan::seconds_of(step),
        1e3 * update_s));
  }
  return step - update;
}

/// Layer times; a warning where they rest on no measurement.
plan::LayerProfile profile_of(const PredictRequest& request,
                              int batch_size,
                              double update_s,
                              std::vector<record::Warning>& warnings) {
  if (request.profile) {
    plan::check_profile(request.network.model, *request.profile);
    if (!request.samples_per_s) {
      return *request.profile;
    }
    return stretched(
        *request.profile,
        model_work_of(*request.samples_per_s, batch_size, update_s));
  }
  plan::LayerProfile profile = roofline_profile(
      request.network, batch_size, roofline_of(request.cluster.device));
  const plan::DeviceThroughput* row = throughput_of(request);
  std::optional<double> rate = request.samples_per_s;
  if (!rate && row != nullptr) {
    rate = row->samples_per_s;
  }
  if (rate) {
    return stretched(std::move(profile),
                     model_work_of(*rate, batch_size, update_s));
  }
  warnings.push_back(
      {.code = "no-throughput",
       .seen = fmt::format("no throughput of {} at batch size {} is known",
                           request.network.model.name,
                           batch_size),
       .why = "layer times follow from the device's data sheet, which programs "
              "reach more or less of",
       .advice = "measure one device and give --device-rate"});
  return profile;
}

Step whole_periods(Step steps, Step period) {
  return (steps + period - 1) / period * period;
}

record::Configuration configuration_of(const PredictRequest& request,
                                       const plan::StrategySpec& strategy,
                                       const EngineCosts& engine,
                                       const Prediction& prediction,
                                       int batch_size) {
  const plan::PlanInput& input = prediction.job->input;
  record::Configuration configuration;
  configuration.label = counted(request.ranks, "rank");
  configuration.model = request.network.model.name;
  configuration.batch_size = batch_size;
  configuration.ranks = request.ranks;
  configuration.ranks_per_host = input.local_world.sizes();
  configuration.strategy = strategy.text();
  configuration.bucket_mb = request.bucket_mb;
  configuration.engine = engine.name;
  configuration.device = request.cluster.device.name.empty()
                             ? "device"
                             : request.cluster.device.name;
  configuration.steps =
      static_cast<int>(whole_periods(request.steps, prediction.job->period));
  configuration.warmup = kWarmup;
  configuration.optimizer = request.optimizer;
  configuration.seed = request.noise.seed;
  configuration.cluster = priced_on(request);
  return configuration;
}

plan::AlphaBetaLine later(plan::AlphaBetaLine line, Picoseconds by) {
  for (plan::AlphaBetaPiece& piece : line.pieces) {
    piece.alpha += by;
  }
  return line;
}

void check_steps(const PredictRequest& request) {
  if (request.steps < 3) {
    throw UsageError(
        fmt::format("{} steps: at least 3 are needed", request.steps));
  }
  const Rank rows = std::clamp(request.ranks, Rank{1}, kMostRecorded);
  if (request.steps > kMostSamples / rows) {
    throw UsageError(fmt::format("{} steps: a record of {} {} holds at most {}",
                                 request.steps,
                                 rows,
                                 rows == 1 ? "rank" : "ranks",
                                 kMostSamples / rows));
  }
}

/// Hosts are filled in the cluster's order.
void name_hosts(const PredictRequest& request, Prediction& prediction) {
  const Classes& classes = prediction.job->classes;
  for (record::RankSamples& rank : prediction.record.ranks) {
    const auto host = classes.host_of[static_cast<std::size_t>(rank.rank)];
    rank.host = request.cluster.hosts[static_cast<std::size_t>(host)].name;
  }
}

/// A job and what became of it.
struct Simulated {
  std::unique_ptr<Job> job;
  Simulator simulator;
  StepTimes times;
};

/// The plan of enough steps that what varies from step to step has been all it
/// can be, and that steps repeat.  Where two periods do not tell, more are
/// simulated; a period of one step that does not repeat then never will.
Simulated simulate_enough(const PredictRequest& request,
                          const plan::Planner& planner,
                          const plan::PlanInput& input,
                          const Costs& costs) {
  const Step period = period_of(planner, input);
  const Step shown = whole_periods(request.steps, period);
  const Step most = (period > 1 ? kMostPeriods : 2) * period + 2;
  Step steps = std::max({Step{6}, kWarmup + shown + 1, 2 * period + 2});
  while (true) {
    auto job = std::make_unique<Job>(compile(planner,
                                             input,
                                             {.steps = steps,
                                              .fold = !request.noise.any(),
                                              .warmup = steps - 1 - shown}));
    Simulator simulator(*job);
    StepTimes times = simulator.run(costs);
    if (steps >= most || request.noise.any() || times.steady) {
      return {std::move(job), std::move(simulator), std::move(times)};
    }
    steps = std::min(2 * steps, most);
  }
}

/// The job without communication.
FreeSteps run_alone(Prediction& prediction) {
  Simulator simulator(*prediction.job);
  Costs free = prediction.costs;
  free.free_communication = true;
  prediction.compute_only = simulator.run(free);
  return free_steps(*prediction.job, simulator, prediction.compute_only);
}

Group world_of(const plan::PlanInput& input) {
  return {.ranks = input.world,
          .hosts = static_cast<Rank>(input.local_world.hosts()),
          .most_local = input.local_world.most()};
}

}  // namespace

double Prediction::samples_per_s() const {
  return static_cast<double>(record.configuration.batch_size) *
         training_ranks(*job) / plan::seconds_of(times.step);
}

bool is_timed(const PredictRequest& request) {
  return request.profile || request.samples_per_s ||
         throughput_of(request) != nullptr;
}

plan::AlphaBeta alpha_beta_of(const Machine& machine,
                              const SoftwareCosts& software,
                              const Group& group) {
  constexpr std::int64_t kMuch = 64 << 20;
  const auto line = [&](plan::Pattern pattern) {
    const auto time = [&](std::int64_t bytes) {
      return alone(price({pattern, bytes, group}, machine), group, machine);
    };
    const Picoseconds asked = software.issue + software.negotiation +
                              group.ranks * software.negotiation_per_rank;
    const plan::LinkFit* fit = measured_fit({pattern, kMuch, group}, machine);
    if (fit != nullptr && fit->ranks == group.ranks) {
      return later(fit->line, asked);
    }
    const Picoseconds fixed =
        asked + (fit != nullptr
                     ? 0
                     : software.collective +
                           group.ranks * software.collective_per_rank);
    const Picoseconds start = time(0);
    return plan::AlphaBetaLine{
        {{.alpha = fixed + start,
          .beta_ps_per_byte = static_cast<double>(time(kMuch) - start) /
                              static_cast<double>(kMuch)}}};
  };
  const bool remote = group.hosts > 1;
  const LinkModel& wire = remote ? machine.network : machine.device;
  const plan::LinkFit* message = message_fit(remote, machine);
  return {
      .origin = "the cluster's links",
      .world = group.ranks,
      .all_reduce = line(plan::Pattern::kAllReduce),
      .reduce_scatter = line(plan::Pattern::kReduceScatter),
      .all_gather = line(plan::Pattern::kAllGather),
      .broadcast = line(plan::Pattern::kBroadcast),
      .message =
          message != nullptr
              ? message->line
              : plan::AlphaBetaLine{{{.alpha = software.message + wire.latency,
                                      .beta_ps_per_byte =
                                          1e12 / static_cast<double>(
                                                     wire.bytes_per_s)}}},
      .side_by_side = software.serial_collectives ? 1 : software.side_by_side};
}

Prediction predict(const PredictRequest& request, bool with_spans) {
  Prediction prediction;
  check_steps(request);
  plan::PlanInput input = input_of(request);
  const plan::DeviceThroughput* row = throughput_of(request);
  const int batch_size = request.batch_size > 0 ? request.batch_size
                         : row != nullptr       ? row->batch_size
                                                : kBatch;
  std::vector<record::Warning> warnings;
  const EngineCosts& engine =
      engine_costs_named(engine_of(request.engine, request.cluster));
  prediction.costs = costs_of(request, engine, input, warnings);
  Costs& costs = prediction.costs;
  costs.profile = profile_of(
      request, batch_size, update_seconds(costs.software, input), warnings);
  if (!request.software && engine.module_call > 0) {
    launch_from_host(request.network,
                     plan::seconds_of(engine.module_call),
                     engine.module_call_spread,
                     request.ranks,
                     costs);
  }
  input.profile = costs.profile;
  input.alpha_beta =
      alpha_beta_of(costs.machine, costs.software, world_of(input));
  const plan::StrategySpec strategy =
      plan::parse_strategy(request.strategy, {.bucket_mb = request.bucket_mb});
  const auto planner = plan::make_planner(strategy);
  auto [job, simulator, times] =
      simulate_enough(request, *planner, input, costs);
  prediction.job = std::move(job);
  prediction.times = std::move(times);
  prediction.bound = bound_of(*prediction.job, costs);
  prediction.bar = error_bar_of(request, costs.machine);
  const FreeSteps alone = run_alone(prediction);
  prediction.record = record_of(
      *prediction.job,
      simulator,
      prediction.times,
      alone,
      configuration_of(request, strategy, engine, prediction, batch_size));
  name_hosts(request, prediction);
  prediction.record.experiment = "predict";
  prediction.record.warnings = std::move(warnings);
  prediction.record.predicted = predicted_of(
      *prediction.job, prediction.bound, prediction.bar, prediction.times.step);
  if (with_spans) {
    prediction.spans = spans_of(*prediction.job, simulator);
    prediction.rank_names = rank_names(*prediction.job, request.cluster);
  }
  return prediction;
}

}  // namespace paceline::sim
