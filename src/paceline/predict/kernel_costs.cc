// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/kernel_costs.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "paceline/plan/kernel_traits.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/roofline.h"
#include "paceline/simulator/job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

/// Returns the bytes/s that the device's memory moves in kernels; 0 if it is not known.
double kernel_memory_bytes_per_s(const PredictRequest& request) {
  return request.cost_table().roofline.copy_share *
         request.cluster.device.memory_bytes_per_s.value_or(0);
}

/// Returns the factor by which both the profile's layer times and its update time are scaled, so
/// that one device has the given rate.
double layer_time_scale(const PredictRequest& request) {
  if (!request.profile || !request.samples_per_s || request.batch_size == 0 ||
      !is_device_rate(*request.samples_per_s)) {
    return 1;
  }
  const int updated = request.micro_batches_of_rate();
  const plan::Picoseconds measured =
      updated * (request.profile->forward_total() + request.profile->backward_total()) +
      *request.update;
  const int batch = updated * (request.batch_size / request.accumulate);
  return batch / *request.samples_per_s / plan::seconds_of(measured);
}

/// Returns whether the optimizer's kernels are fused.  They are on a GPU unless asked otherwise,
/// but not in published programs and on CPUs.
bool is_fused(const PredictRequest& request, const EngineCosts& engine) {
  return !request.unfused && !engine.published && request.cluster.device.name != "cpu";
}

/// Returns the cost of the update.  It takes as long as the measured update, if there is one.
/// Otherwise the optimizer reads and writes its buffers at the memory's speed, and, with
/// `launches`, launches a kernel per tensor.
cluster::KernelCost update_cost(const PredictRequest& request, const plan::PlanInput& input,
                                bool fused, bool launches) {
  if (request.update && *request.update > 0) {
    return {.optimizer_step = true,
            .bytes_per_s = update_bytes(input) /
                           (plan::seconds_of(*request.update) * layer_time_scale(request))};
  }
  const OptimizerCosts optimizer = request.cost_table().optimizer(input.optimizer.name);
  return {.optimizer_step = true,
          .launch_per_tensor = launches ? optimizer.launch_per_tensor : 0,
          .bytes_per_s = kernel_memory_bytes_per_s(request) /
                         (fused ? optimizer.fused_passes : optimizer.passes)};
}

/// Returns the cost of kernels of codecs, copies and averages of neighbors: one launch and one pass
/// over the memory, whatever the optimizer's kernels cost.  If the device's memory rate is unknown,
/// they move bytes at the rate of the measured update.
cluster::KernelCost other_kernel_cost(const PredictRequest& request,
                                      const cluster::KernelCost& update, bool launches) {
  const double rate = kernel_memory_bytes_per_s(request);
  return {.launch = launches ? request.cost_table().optimizer("sgd").launch_per_tensor : 0,
          .bytes_per_s = rate > 0 ? rate : update.bytes_per_s};
}

/// Returns the bytes that kernels accepted by `counts` read and write, counted once per pass, on
/// the actor that has most, in steps [1, 1 + steps).
template <class Counts>
double most_kernel_bytes(const simulator::Job& job, plan::Step steps, const Counts& counts) {
  double most = 0;
  for (const simulator::Actor& actor : job.actors) {
    double bytes = 0;
    for (simulator::ItemId id = actor.steps[1];
         id < actor.steps[static_cast<std::size_t>(1 + steps)]; ++id) {
      const simulator::Item& item = job.items[id];
      if (item.kind != simulator::ItemKind::kKernel) {
        continue;
      }
      const simulator::KernelShape& shape =
          job.kernel_shapes[static_cast<std::size_t>(item.subject)];
      const plan::KernelTraits* traits = plan::find_kernel_traits(shape.name);
      if (traits != nullptr && counts(*traits)) {
        bytes += traits->passes * static_cast<double>(shape.bytes);
      }
    }
    most = std::max(most, bytes);
  }
  return most;
}

/// Returns one rate for all kernels of the codec, such that they take the measured time of a step.
/// If the steps of a period differ, the mean over the period is used, as in the measurement.
std::vector<cluster::KernelCost> measured_codec_costs(const plan::Planner& planner,
                                                      const plan::PlanInput& input,
                                                      double coding_s) {
  const plan::Step period = simulator::period_of(planner, input);
  const double bytes =
      most_kernel_bytes(simulator::compile(planner, input, {.steps = period + 2}), period,
                        [](const plan::KernelTraits& traits) { return traits.codes; });
  std::vector<cluster::KernelCost> costs;
  for (const plan::KernelTraits& traits : plan::kKernels) {
    if (traits.codes && bytes > 0) {
      costs.push_back({.kernel = std::string(traits.name),
                       .bytes_per_s = bytes / static_cast<double>(period) / coding_s});
    }
  }
  return costs;
}

/// Returns the kernel costs of the strategy's codec by the times in `request.codecs`; empty if
/// these lack the codec.
std::vector<cluster::KernelCost> profiled_codec_costs(const PredictRequest& request,
                                                      const strategies::StrategySpec& spec) {
  std::vector<cluster::KernelCost> costs;
  for (const cluster::CodecTime& codec : request.codecs) {
    if (spec.codec.row == nullptr || spec.codec.row->name != codec.codec) {
      continue;
    }
    for (const cluster::KernelTime& kernel : codec.kernels) {
      const plan::KernelTraits* traits = plan::find_kernel_traits(kernel.kernel);
      if (traits != nullptr && kernel.time > 0) {
        costs.push_back({.kernel = std::string(traits->name),
                         .bytes_per_s = traits->passes * static_cast<double>(kernel.bytes) /
                                        plan::seconds_of(kernel.time)});
      }
    }
  }
  return costs;
}

/// Returns the measured kernel costs of the strategy's codec: by the run's coding time if the
/// request gives it, else by the profile.
std::vector<cluster::KernelCost> codec_costs(const PredictRequest& request,
                                             const plan::PlanInput& input) {
  const strategies::StrategySpec spec = strategies::strategy_of(request);
  return request.coding_s
             ? measured_codec_costs(*strategies::make_planner(spec), input, *request.coding_s)
             : profiled_codec_costs(request, spec);
}

}  // namespace

bool has_coding_times(const PredictRequest& request) {
  return !profiled_codec_costs(request, strategies::strategy_of(request)).empty();
}

double update_bytes(const plan::PlanInput& input) {
  plan::PlanInput alone = input;
  alone.world = 1;
  alone.micro_batches = 1;  // a step has one update, whatever its number of micro-batches
  alone.local_world = {1};
  const auto planner = strategies::make_planner(strategies::parse_strategy("none"));
  return most_kernel_bytes(simulator::compile(*planner, alone, {.steps = 3}), 1,
                           [](const plan::KernelTraits& /*any*/) { return true; });
}

std::vector<cluster::KernelCost> kernel_costs_of(const PredictRequest& request,
                                                 const plan::PlanInput& input) {
  const EngineCosts& engine =
      costs_of_engine(request.cost_table(), request.engine, request.cluster);
  // In a published program on a rank that exchanges nothing, launches hide behind the backward
  // pass.
  const bool launches = request.unfused || (engine.is_launched_from_python && request.ranks > 1 &&
                                            strategies::strategy_of(request).guarantee() !=
                                                strategies::Guarantee::kLocal);
  const cluster::KernelCost update =
      update_cost(request, input, is_fused(request, engine), launches);
  std::vector<cluster::KernelCost> all{update};
  const auto measured = codec_costs(request, input);
  all.insert(all.end(), measured.begin(), measured.end());
  all.push_back(other_kernel_cost(request, update, launches));
  return all;
}

double update_seconds(const PredictRequest& request, const cluster::SoftwareCosts& software,
                      const plan::PlanInput& input) {
  if (software.kernels.empty()) {
    return 0;
  }
  const cluster::KernelCost& update = software.kernels.front();
  const double launches = request.unfused ? plan::seconds_of(update.launch_per_tensor) *
                                                static_cast<double>(input.model.parameters.size())
                                          : 0;
  return launches + (update.bytes_per_s == 0 ? 0 : update_bytes(input) / update.bytes_per_s);
}

}  // namespace paceline::predict
