// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/team.h"

#include <ATen/Parallel.h>

#include "paceline/base/error.h"
#include "paceline/bench/torch_facts.h"
#include "paceline/comm/c10d_store.h"

namespace paceline::bench {

at::Device device_of(const comm::World& world,
                     const record::Configuration& configuration) {
  if (configuration.device == "cpu") {
    return at::kCPU;
  }
  const int devices = cuda_devices();
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
                      const std::string& name,
                      const std::string& interface) {
  if (configuration.threads > 0) {
    at::set_num_threads(configuration.threads);
  }
  const comm::ChannelSpec spec =
      comm::channel_spec(world, name, configuration.ranks, interface);
  return {.name = name,
          .store = spec.store,
          .engine = &engine,
          .rank = spec.rank,
          .world = spec.world,
          .device = device_of(world, configuration),
          .interface = spec.interface};
}

}  // namespace paceline::bench
