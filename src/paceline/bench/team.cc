// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/team.h"

#include <algorithm>
#include <map>
#include <thread>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/error.h"

namespace paceline::bench {

at::Device device_of(const comm::World& world,
                     const record::Configuration& configuration) {
  if (configuration.device == "cpu") {
    return at::kCPU;
  }
  const auto devices = static_cast<int>(torch::cuda::device_count());
  if (devices == 0) {
    throw UsageError(
        "--device cuda: no CUDA device is visible; allowed here: cpu.");
  }
  return {at::kCUDA,
          static_cast<c10::DeviceIndex>(world.place.local_rank % devices)};
}

train::Team make_team(const comm::World& world,
                      const record::Configuration& configuration,
                      comm::Engine& engine,
                      const SessionOptions& options,
                      std::size_t case_index) {
  if (configuration.threads > 0) {
    at::set_num_threads(configuration.threads);
  }
  const std::string name = fmt::format("run{}/case{}", options.run, case_index);
  const comm::ChannelSpec spec =
      comm::channel_spec(world, name, configuration.ranks, options.interface);
  return {.name = name,
          .store = spec.store,
          .engine = &engine,
          .rank = spec.rank,
          .world = spec.world,
          .device = device_of(world, configuration),
          .interface = spec.interface};
}

void add_warnings(const record::Configuration& configuration,
                  const record::Environment& /*environment*/,
                  record::RunRecord& record) {
  std::map<std::string, int> ranks_on;
  for (const auto& rank : record.ranks) {
    ++ranks_on[rank.host];
  }
  const int cores =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (const auto& [host, ranks] : ranks_on) {
    const int wanted = ranks * std::max(1, configuration.threads);
    if (configuration.device == "cpu" && wanted > cores) {
      record.warnings.push_back(
          {"shared-cores",
           fmt::format("{} threads on {} cores of {}", wanted, cores, host),
           "ranks take cores from each other, so a step is slower than on as "
           "many devices",
           "use fewer ranks or --threads"});
    }
  }
  for (const auto& [check, held] : record.verified) {
    if (!held) {
      record.warnings.push_back({"verification-failed",
                                 check,
                                 "the exchange returned wrong values",
                                 "do not use these numbers; report the case"});
    }
  }
  if (record.wire.measured_per_step && record.wire.planned_per_step &&
      *record.wire.measured_per_step != *record.wire.planned_per_step) {
    record.warnings.push_back(
        {"bytes-differ",
         fmt::format("{} bytes a step entered the engine, the plan says {}",
                     *record.wire.measured_per_step,
                     *record.wire.planned_per_step),
         "what was sent is not what the strategy claims",
         "report the case"});
  }
}

}  // namespace paceline::bench
