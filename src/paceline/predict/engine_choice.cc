// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/engine_choice.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cluster/device_table.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/predict/engines.h"

namespace paceline::predict {
namespace {

/// Returns the engines that the cluster's fits name.  Leaves out published programs, whose
/// measurements hold for them alone.
std::vector<std::string> fitted_engines(const cluster::Cluster& cluster) {
  std::vector<std::string> engines;
  for (const cluster::ClusterLink& link : cluster.links) {
    for (const cluster::LinkFit& fit : link.fits) {
      if (!fit.engine.empty() && !engine_costs_named(fit.engine).published) {
        add_once(engines, fit.engine);
      }
    }
  }
  return engines;
}

}  // namespace

std::string engine_of(const std::string& asked, const cluster::Cluster& cluster,
                      std::string_view device) {
  if (!asked.empty()) {
    return asked;
  }
  const auto engines = fitted_engines(cluster);
  return engines.size() == 1 ? engines.front() : std::string(plan::engine_for(device).name);
}

const EngineCosts& costs_of_engine(const CostTable& costs, const std::string& asked,
                                   const cluster::Cluster& cluster) {
  const EngineCosts& engine = costs.engine(engine_of(asked, cluster));
  return engine.bound ? costs.engine(engine_of("", cluster)) : engine;
}

void check_fits(const cluster::Cluster& cluster, const std::string& engine,
                const cluster::Machine& machine, std::vector<records::Warning>& warnings) {
  if (cluster::has_collective_fit(machine)) {
    return;
  }
  auto engines = fitted_engines(cluster);
  std::erase(engines, engine);  // what remains here are fits of messages
  const std::string others = fmt::format("{}", fmt::join(engines, ", "));
  if (machine.algorithm == cluster::Algorithm::kMeasured) {
    throw UsageError(fmt::format(
        "--algorithm measured: cluster '{}' has no fits of collectives with engine {}{}; paceline "
        "comm --fit FILE measures them",
        cluster.name, engine, others.empty() ? "" : fmt::format(", only of {}", others)));
  }
  if (!others.empty()) {
    warnings.push_back(
        {.code = "fits-of-another-engine",
         .seen = fmt::format("the cluster file has fits of {}, none of collectives with {}", others,
                             engine),
         .why = "collectives are priced by the links' rates and latencies",
         .advice = fmt::format("give --engine {}, or measure with {}", engines.front(), engine)});
  }
}

void check_scale(const EngineCosts& engine, plan::Rank ranks, const cluster::Machine& machine,
                 std::vector<records::Warning>& warnings) {
  if (engine.most_ranks == 0 || ranks <= engine.most_ranks ||
      cluster::has_collective_fit(machine)) {
    return;
  }
  warnings.push_back(
      {.code = "beyond-the-fit",
       .seen = fmt::format("{} ranks with the costs of engine {}", ranks, engine.name),
       .why = fmt::format("they are fitted to {}; how starts of collectives grow beyond is a guess",
                          engine.source),
       .advice = "measure there with paceline comm --fit FILE, or bound it with --engine ideal"});
}

bool is_of_another_device(const std::string& profiled, const cluster::Cluster& cluster,
                          const std::string& engine) {
  const std::string& device = cluster.device.name;
  const plan::EngineTraits* traits = plan::find_engine_traits(engine);
  const bool made_for_gpus = traits != nullptr && traits->made_for == "cuda";
  const bool of_gpus = device.empty() ? made_for_gpus : device != "cpu";
  const bool differs = profiled == "cpu" ? of_gpus : device == "cpu";
  return !profiled.empty() && differs;
}

void check_device(const std::string& profiled, const cluster::Cluster& cluster,
                  const std::string& engine, std::vector<records::Warning>& warnings) {
  if (!is_of_another_device(profiled, cluster, engine)) {
    return;
  }
  const std::string& device = cluster.device.name;
  warnings.push_back(
      {.code = "profile-of-another-device",
       .seen = fmt::format("the profile's layers were timed on {}, the cluster's device is {}",
                           profiled, device.empty() ? "one that engine nccl drives" : device),
       .why = "compute takes the profile's times all the same",
       .advice = "give --device-rate, samples/s of that device, or a profile measured there"});
}

void check_generation(const cluster::Cluster& cluster, const EngineCosts& engine,
                      std::vector<records::Warning>& warnings) {
  const std::string& device = cluster.device.name;
  if (!cluster::uses_nccl_model(engine.algorithm) || cluster::device_model(device).empty()) {
    return;
  }
  const auto tuning = cluster::nccl_tuning_of(cluster);
  if (!tuning->known) {
    warnings.push_back(
        {.code = "device-of-no-known-generation",
         .seen = fmt::format("the cluster's device is '{}'", device),
         .why = fmt::format("NCCL's constants are those of generation {}", tuning->generation),
         .advice = "name a device of a known generation, or measure with paceline calibrate"});
  }
}

void check_memory(const cluster::Cluster& cluster, const cluster::SoftwareCosts& software,
                  std::vector<records::Warning>& warnings) {
  const std::string& device = cluster.device.name;
  const bool free = std::ranges::any_of(software.kernels, [](const cluster::KernelCost& kernel) {
    return kernel.optimizer_step && kernel.bytes_per_s == 0 && kernel.launch_per_tensor == 0;
  });
  if (free && !cluster::device_model(device).empty() && !cluster.device.memory_bytes_per_s) {
    warnings.push_back(
        {.code = "no-memory-rate",
         .seen = fmt::format("the cluster file has no memory_bandwidth of '{}'", device),
         .why = "updates and other kernels take no time",
         .advice = "give memory_bandwidth under [device]"});
  }
}

}  // namespace paceline::predict
