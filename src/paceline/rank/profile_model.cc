// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/profile_model.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/engines/engine.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/network.h"
#include "paceline/networks/precision.h"
#include "paceline/rank/planner_input.h"
#include "paceline/rank/rank_group.h"
#include "paceline/rank/trainer.h"
#include "paceline/runtime/hooks.h"
#include "paceline/runtime/profile_layers.h"
#include "paceline/runtime/shape.h"
#include "paceline/stats/quantile.h"

namespace paceline::rank {
namespace {

/// Counts the bytes that this thread has allocated and not freed since the meter was made.
class MemoryMeter final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*pointer*/, std::int64_t bytes, std::size_t /*allocated*/,
                         std::size_t /*reserved*/, c10::Device /*device*/) override {
    bytes_ += bytes;
  }
  bool memoryProfilingEnabled() const override { return true; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

/// The measured network with all that one of its steps needs.
class Subject {
 public:
  explicit Subject(const cases::Case& c)
      : precision_(networks::parse_precision(c.dtype)), device_(c.device) {
    const auto& info = networks::find_network(c.model);
    const networks::NetworkOptions options = network_options(c);
    network_ = networks::make_network(info, options, c.seed);
    network_->to(device_);
    networks::cast_network(*network_, networks::parameter_dtype(precision_));
    if (c.channels_last) {
      networks::to_channels_last(*network_);
    }
    network_->train();
    batch_ = networks::make_batch(info, {.batch_size = c.batch_size,
                                         .seed = c.seed,
                                         .channels_last = c.channels_last,
                                         .dtype = networks::parameter_dtype(precision_),
                                         .device = device_,
                                         .network = options});
    traced_ = runtime::trace(network_, c.model, traced_batch(batch_));
  }

  const plan::ModelShape& shape() const { return traced_.shape; }

  plan::LayerProfile profile(const runtime::ProfileOptions& options) {
    return runtime::profile_layers(
        traced_, [this] { return loss(); }, device_, options);
  }

  /// Runs one forward pass; calls `entered` when the pass enters a module.
  at::Tensor forward(const std::function<void(plan::ModuleId)>& entered) {
    runtime::EntryWatch watch(entered);
    const runtime::BoundGates bound(traced_.gated, watch);
    if (traced_.gated.front() == nullptr) {
      entered(plan::ModuleId{0});  // if the root module has no gate
    }
    return loss();
  }

 private:
  at::Tensor loss() {
    const networks::Autocast autocast(precision_, device_.type());
    return network_->loss(batch_);
  }

  networks::Precision precision_;
  at::Device device_;
  std::shared_ptr<networks::Network> network_;
  networks::Batch batch_;
  runtime::TracedNetwork traced_;
};

/// Returns the bytes that each module's forward pass leaves allocated.
std::vector<std::int64_t> activation_bytes(Subject& subject, std::size_t modules) {
  const auto meter = std::make_shared<MemoryMeter>();
  std::vector<std::int64_t> kept(modules, 0);
  std::int64_t before = 0;
  std::size_t current = modules;
  const auto close = [&] {
    if (current < modules) {
      kept[current] += std::max<std::int64_t>(0, meter->bytes() - before);
    }
    before = meter->bytes();
  };
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, meter);
  const at::Tensor loss = subject.forward([&](plan::ModuleId m) {
    close();
    current = plan::index_of(m);
  });
  close();
  return kept;
}

/// Returns the median time of one update of all parameters, as training performs it.
std::optional<plan::Picoseconds> update_time(cases::Case c) {
  c.strategy = "none";
  c.ranks = 1;
  c.accumulate = 1;
  const auto engine = engines::make_engine(plan::engine_for("cpu").name);
  const RankGroup group{.name = "profile",
                        .store = c10::make_intrusive<c10d::HashStore>(),
                        .engine = engine.get(),
                        .device = rank::device_of({}, c),
                        .interface = "lo"};
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
    return std::nullopt;  // on a GPU a span is the launch alone
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
    Subject subject(c);
    profiled.model = subject.shape();
    profiled.profile =
        subject.profile({.warmup = c.warmup,
                         .repeats = c.steps,
                         .origin = fmt::format("paceline profile {} on {}, {} threads, {:%Y-%m-%d}",
                                               c.model, launch::host_name(), at::get_num_threads(),
                                               fmt::gmtime(std::time(nullptr)))});
    profiled.memory = peak_memory_bytes();
    profiled.profile.activation_bytes = activation_bytes(subject, profiled.model.modules.size());
  }
  profiled.update = update_time(c);
  profiled.batch_size = c.batch_size;
  profiled.device = c.device;
  return profiled;
}

}  // namespace paceline::rank
