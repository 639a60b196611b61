// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/profile_model.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>

#include <ATen/Parallel.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/text.h"
#include "paceline/engines/engine.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/network.h"
#include "paceline/networks/precision.h"
#include "paceline/rank/planner_input.h"
#include "paceline/rank/rank_group.h"
#include "paceline/rank/trainer.h"
#include "paceline/runtime/profile_layers.h"
#include "paceline/runtime/shape.h"
#include "paceline/stats/quantile.h"

namespace paceline::rank {
namespace {

/// Returns the median time of one update of all parameters, as training performs it.
std::optional<plan::Picoseconds> update_time(cases::Case c) {
  c.strategy = "none";
  c.ranks = 1;
  c.accumulate = 1;
  const auto engine = engines::make_engine(plan::engine_for("cpu").name);
  RankGroup group;
  group.name = "profile";
  group.store = c10::make_intrusive<c10d::HashStore>();
  group.engine = engine.get();
  group.device = rank::device_of({}, c);
  group.interface = "lo";
  Trainer trainer(c, group, {.dispatcher = {.record_spans = true}});
  std::map<plan::Step, double> by_step;
  const int steps = std::min(c.warmup, 2) + std::max(1, std::min(c.steps, 5));
  for (int i = 0; i < steps; ++i) {
    trainer.step();
  }
  trainer.drain();
  for (const execution::OpSpan& span : trainer.executor().take_spans()) {
    const auto& op = trainer.plan_of(span.ref.step).ops[static_cast<std::size_t>(span.ref.op)];
    if (span.kind == execution::OpSpan::Kind::kWork &&
        std::holds_alternative<plan::Kernel>(op.work)) {
      by_step[span.ref.step] += static_cast<double>(span.end_ns - span.start_ns);
    }
  }
  std::vector<double> times;
  for (const auto& [step, ns] : by_step) {
    if (step >= std::min(c.warmup, 2)) {
      times.push_back(ns);
    }
  }
  if (times.empty() || !group.device.is_cpu()) {
    return std::nullopt;  // on a GPU the span of an update covers its launch alone
  }
  return plan::picoseconds_of(stats::median(times) * 1e-9);
}

}  // namespace

cluster::ProfiledModel profile_model(const cases::Case& c) {
  if (c.threads > 0) {
    at::set_num_threads(c.threads);
  }
  reset_peak_memory();
  cluster::ProfiledModel profiled;
  {
    const at::Device device(c.device);
    const auto network = built_network(c, device);
    const networks::Precision precision = networks::parse_precision(c.dtype);
    const networks::Batch batch = networks::make_batch(
        networks::find_network(c.model), {.batch_size = c.batch_size,
                                          .seed = c.seed,
                                          .channels_last = c.channels_last,
                                          .dtype = networks::parameter_dtype(precision),
                                          .device = device,
                                          .network = network_options(c)});
    runtime::TracedNetwork traced = runtime::trace(network, c.model, two_sample_batch(batch));
    const auto loss = [&] {
      const networks::Autocast autocast(precision, device.type());
      return network->loss(batch);
    };
    profiled.model = traced.shape;
    profiled.profile = runtime::profile_layers(
        traced, loss, device,
        {.warmup = c.warmup,
         .repeats = c.steps,
         .origin = fmt::format("paceline profile {} on {}, {}, {:%Y-%m-%d}", c.model,
                               launch::host_name(), counted(at::get_num_threads(), "thread"),
                               fmt::gmtime(std::time(nullptr)))});
    profiled.memory = peak_memory_bytes();
  }
  profiled.update = update_time(c);
  profiled.batch_size = c.batch_size;
  profiled.device = c.device;
  return profiled;
}

}  // namespace paceline::rank
