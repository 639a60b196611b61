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

engines::ChannelSpec RankGroup::channel_named(const std::string& channel) const {
  auto spec = static_cast<const engines::ChannelSpec&>(*this);
  spec.name += "/" + channel;
  spec.timeout = peers.limit();
  spec.idle = peers.idle;
  return spec;
}

std::unique_ptr<engines::Channel> connect(const RankGroup& group, const std::string& name,
                                          int members) {
  engines::ChannelSpec spec = group.channel_named(name);
  spec.world = members;
  return group.engine->connect(spec);
}

RankGroup make_rank_group(const engines::World& world, const cases::Case& configuration,
                          engines::Engine& engine, const std::string& name,
                          const std::string& interface) {
  if (configuration.threads > 0) {
    at::set_num_threads(configuration.threads);
  }
  RankGroup group{engines::channel_spec(world, name, configuration.ranks, interface), &engine};
  group.device = device_of(world, configuration);
  group.peers.device = group.device;
  engines::set_thread_device(group.device);
  return group;
}

}  // namespace paceline::rank
