// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/rank_group.h"

#include <ATen/Parallel.h>

#include "paceline/base/error.h"
#include "paceline/engines/channel_spec.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/thread_device.h"
#include "paceline/rank/torch_facts.h"

namespace paceline::rank {

at::Device device_of(const engines::World& world, const cases::Case& configuration) {
  if (configuration.device == "cpu") {
    return at::kCPU;
  }
  const int devices = cuda_devices();
  if (devices == 0) {
    throw UsageError("--device cuda: no CUDA device is visible; allowed here: cpu.");
  }
  return {at::kCUDA, static_cast<c10::DeviceIndex>(world.self.local_rank % devices)};
}

void start_engines(const std::vector<std::string>& names, std::chrono::milliseconds timeout,
                   const std::function<void()>& idle) {
  for (const std::string& name : names) {
    engines::make_engine(name)->start(timeout, idle);
  }
}

std::unique_ptr<engines::Channel> connect(const RankGroup& group, const std::string& name,
                                          int members) {
  return group.engine->connect({.name = group.name + "/" + name,
                                .store = group.store,
                                .rank = group.rank,
                                .world = members,
                                .timeout = group.peers.limit(),
                                .idle = group.peers.idle,
                                .interface = group.interface,
                                .device = group.device});
}

RankGroup make_rank_group(const engines::World& world, const cases::Case& configuration,
                          engines::Engine& engine, const std::string& name,
                          const std::string& interface) {
  if (configuration.threads > 0) {
    at::set_num_threads(configuration.threads);
  }
  const engines::ChannelSpec spec =
      engines::channel_spec(world, name, configuration.ranks, interface);
  const at::Device device = device_of(world, configuration);
  engines::set_thread_device(device);
  return {.name = name,
          .store = spec.store,
          .engine = &engine,
          .rank = spec.rank,
          .world = spec.world,
          .device = device,
          .interface = spec.interface,
          .peers = {.device = device}};
}

}  // namespace paceline::rank
