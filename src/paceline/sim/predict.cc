// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/predict.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/strategy.h"
#include "paceline/sim/engine_choice.h"
#include "paceline/sim/engines.h"
#include "paceline/sim/roofline.h"

namespace paceline::sim {
namespace {

constexpr int kBatch = 32;  // where nobody says

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

/// Kernels take as long as the measured update; else the optimizer reads and
/// writes its buffers at the speed of the memory.
KernelCost kernels_of(const PredictRequest& request,
                      const plan::PlanInput& input) {
  if (request.update && *request.update > 0) {
    return {.bytes_per_s =
                update_bytes(input) / plan::seconds_of(*request.update)};
  }
  return {.bytes_per_s = request.cluster.device.memory_bytes_per_s.value_or(0)};
}

void check_rate(double samples_per_s) {
  if (!(samples_per_s > 0)) {
    throw UsageError(fmt::format("{} samples/s of one device: must be above 0",
                                 samples_per_s));
  }
}

Costs costs_of(const PredictRequest& request,
               const plan::PlanInput& input,
               std::vector<record::Warning>& warnings) {
  const std::string engine = engine_of(request.engine, request.cluster);
  Costs costs;
  costs.machine =
      request.machine ? *request.machine : machine_of(request.cluster, engine);
  costs.machine.noise = request.noise;
  if (request.algorithm) {
    costs.machine.algorithm = algorithm_named(*request.algorithm);
  }
  if (!request.machine) {
    check_fits(request.cluster, engine, costs.machine, warnings);
  }
  if (request.software) {
    costs.software = *request.software;
  } else {
    costs.software = engine_costs_named(engine).costs;
    costs.software.kernels.push_back(kernels_of(request, input));
  }
  return costs;
}

/// Layer times; a warning where they rest on no measurement.
plan::LayerProfile profile_of(const PredictRequest& request,
                              int batch_size,
                              std::vector<record::Warning>& warnings) {
  if (request.profile) {
    plan::check_profile(request.network.model, *request.profile);
    if (!request.samples_per_s) {
      return *request.profile;
    }
    check_rate(*request.samples_per_s);
    return stretched(*request.profile,
                     plan::picoseconds_of(batch_size / *request.samples_per_s));
  }
  plan::LayerProfile profile = roofline_profile(
      request.network, batch_size, roofline_of(request.cluster.device));
  const plan::DeviceThroughput* row = throughput_of(request);
  std::optional<double> rate = request.samples_per_s;
  if (!rate && row != nullptr) {
    rate = row->samples_per_s;
  }
  if (rate) {
    check_rate(*rate);
    return stretched(std::move(profile),
                     plan::picoseconds_of(batch_size / *rate));
  }
  warnings.push_back(
      {.code = "no-throughput",
       .seen = fmt::format("no throughput of {} at batch size {} is known",
                           request.network.model.name,
                           batch_size),
       .why = "layer times are those of a device at its peak, which no "
              "program reaches",
       .advice = "measure one device and give --device-rate"});
  return profile;
}

record::Configuration configuration_of(const PredictRequest& request,
                                       const plan::StrategySpec& strategy,
                                       const plan::PlanInput& input,
                                       int batch_size) {
  record::Configuration configuration;
  configuration.label = fmt::format("{} ranks", request.ranks);
  configuration.model = request.network.model.name;
  configuration.batch_size = batch_size;
  configuration.ranks = request.ranks;
  configuration.ranks_per_host = {input.local_world.begin(),
                                  input.local_world.end()};
  configuration.strategy = strategy.text();
  configuration.bucket_mb = request.bucket_mb;
  configuration.engine = engine_of(request.engine, request.cluster);
  configuration.device = request.cluster.device.name.empty()
                             ? "device"
                             : request.cluster.device.name;
  configuration.steps = static_cast<int>(request.steps);
  configuration.warmup = 2;
  configuration.optimizer = request.optimizer;
  configuration.seed = request.noise.seed;
  return configuration;
}

plan::AlphaBetaLine later(plan::AlphaBetaLine line, Picoseconds by) {
  for (plan::AlphaBetaPiece& piece : line.pieces) {
    piece.alpha += by;
  }
  return line;
}

Group world_of(const plan::PlanInput& input) {
  return {.ranks = input.world,
          .hosts = static_cast<Rank>(input.local_world.size()),
          .most_local = *std::ranges::max_element(input.local_world)};
}

}  // namespace

double Prediction::samples_per_s() const {
  return static_cast<double>(record.configuration.batch_size) *
         record.configuration.ranks / plan::seconds_of(times.step);
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
  const LinkModel& wire = group.hosts > 1 ? machine.network : machine.device;
  return {
      .origin = "the cluster's links",
      .world = group.ranks,
      .all_reduce = line(plan::Pattern::kAllReduce),
      .reduce_scatter = line(plan::Pattern::kReduceScatter),
      .all_gather = line(plan::Pattern::kAllGather),
      .broadcast = line(plan::Pattern::kBroadcast),
      .message = {{{.alpha = software.message + wire.latency,
                    .beta_ps_per_byte =
                        1e12 / static_cast<double>(wire.bytes_per_s)}}},
      .side_by_side = software.serial_collectives ? 1 : software.side_by_side};
}

double update_bytes(const plan::PlanInput& input) {
  plan::PlanInput alone = input;
  alone.world = 1;
  alone.local_world = {1};
  const auto planner = plan::make_planner(plan::parse_strategy("none"));
  const Job job = compile(*planner, alone, {.steps = 3});
  double bytes = 0;
  for (ItemId id = job.actors[0].steps[1]; id < job.actors[0].steps[2]; ++id) {
    const Item& item = job.items[id];
    if (item.kind == ItemKind::kKernel) {
      const auto shape = static_cast<std::size_t>(item.subject);
      bytes += static_cast<double>(job.kernel_shapes[shape].bytes);
    }
  }
  return bytes;
}

Prediction predict(const PredictRequest& request, bool with_spans) {
  Prediction prediction;
  if (request.steps < 3) {
    throw UsageError(
        fmt::format("{} steps: at least 3 are needed", request.steps));
  }
  plan::PlanInput input = input_of(request);
  const plan::DeviceThroughput* row = throughput_of(request);
  const int batch_size = request.batch_size > 0 ? request.batch_size
                         : row != nullptr       ? row->batch_size
                                                : kBatch;
  std::vector<record::Warning> warnings;
  prediction.costs = costs_of(request, input, warnings);
  Costs& costs = prediction.costs;
  costs.profile = profile_of(request, batch_size, warnings);
  input.profile = costs.profile;
  input.alpha_beta =
      alpha_beta_of(costs.machine, costs.software, world_of(input));
  const plan::StrategySpec strategy =
      plan::parse_strategy(request.strategy, {.bucket_mb = request.bucket_mb});
  const auto planner = plan::make_planner(strategy);
  prediction.job =
      std::make_unique<Job>(compile(*planner,
                                    input,
                                    {.steps = std::max<Step>(request.steps, 6),
                                     .fold = !request.noise.any()}));
  Simulator simulator(*prediction.job);
  Costs free = costs;
  free.free_communication = true;
  prediction.compute_only = simulator.run(free);
  prediction.bound = bound_of(*prediction.job, costs);
  prediction.times = simulator.run(costs);
  prediction.record =
      record_of(*prediction.job,
                simulator,
                prediction.times,
                prediction.compute_only,
                configuration_of(request, strategy, input, batch_size));
  prediction.record.experiment = "predict";
  prediction.record.warnings = std::move(warnings);
  if (with_spans) {
    prediction.spans = spans_of(*prediction.job, simulator);
  }
  return prediction;
}

std::string summary_of(const Prediction& prediction) {
  const auto ms = [](Picoseconds time) { return plan::seconds_of(time) * 1e3; };
  const StepTimes& times = prediction.times;
  const Bound& bound = prediction.bound;
  std::string text = fmt::format(
      "step {:.3f} ms{}, {:.1f} samples/s\n"
      "  model work {:.3f} ms, exposed communication {:.3f} ms\n"
      "  bound {:.3f} ms: compute {:.3f} ms, wire {:.3f} ms{}\n",
      ms(times.step),
      times.steady ? "" : " (not steady: mean of the later steps)",
      prediction.samples_per_s(),
      ms(times.compute),
      ms(prediction.exposed()),
      ms(bound.step),
      ms(bound.compute),
      ms(bound.wire),
      bound.crosses_step ? ", which may run under the next step"
                         : ", which starts with the first gradient");
  if (bound.gated > bound.step) {
    text += fmt::format(
        "  sharper bound {:.3f} ms: each gradient crosses after it is ready "
        "and before the forward that waits for it\n",
        ms(bound.gated));
  }
  return text;
}

}  // namespace paceline::sim
