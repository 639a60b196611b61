// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {
namespace {

constexpr std::array<std::pair<std::string_view, Algorithm>, 5> kNames{
    {{"ring", Algorithm::kRing},
     {"tree", Algorithm::kTree},
     {"measured", Algorithm::kMeasured},
     {"nccl", Algorithm::kNccl},
     {"nccl-collnet", Algorithm::kNcclCollNet}}};

LinkModel model_of(const cluster::ClusterLink& link) {
  return {.bytes_per_s = std::max<std::int64_t>(1, std::llround(link.bytes_per_s)),
          .latency = link.latency_ps,
          .sharing = link.sharing,
          .full_duplex = link.full_duplex,
          .decline = link.decline};
}

void check_fraction(const char* what, double share) {
  if (!(share > 0 && share <= 1)) {
    throw UsageError(fmt::format("{} = {}: must be above 0 and at most 1", what, share));
  }
}

void check_time(const char* what, plan::Picoseconds time) {
  if (time < 0) {
    throw UsageError(fmt::format("{} = {} ps: must not be negative", what, time));
  }
}

void check_link(const char* what, const LinkModel& link) {
  if (link.bytes_per_s <= 0 || link.bytes_per_s > kMostBytesPerSecond) {
    throw UsageError(
        fmt::format("the {} link has a rate of {} bytes/s: it must be above 0 and at most 10^14",
                    what, link.bytes_per_s));
  }
  check_time(fmt::format("latency of the {} link", what).c_str(), link.latency);
  if (!(link.decline >= 0 && link.decline <= 1)) {
    throw UsageError(
        fmt::format("decline of the {} link = {}: must be 0 to 1", what, link.decline));
  }
}

void check_noise(const Noise& noise) {
  if (!(noise.sigma >= 0 && noise.sigma < kMostNoise)) {
    throw UsageError(
        fmt::format("noise: sigma = {}: must be at least 0 and below {}", noise.sigma, kMostNoise));
  }
}

std::vector<cluster::LinkFit> fits_of_engine(const cluster::ClusterLink* link,
                                             std::string_view engine) {
  std::vector<cluster::LinkFit> fits;
  if (link != nullptr) {
    std::ranges::copy_if(link->fits, std::back_inserter(fits), [&](const cluster::LinkFit& fit) {
      return fit.engine.empty() || fit.engine == engine;
    });
    for (cluster::LinkFit& fit : fits) {
      if (link->calibration && link->calibration->engine == fit.engine) {
        fit.from_bytes = link->calibration->from_bytes;
        fit.to_bytes = link->calibration->to_bytes;
      }
    }
  }
  return fits;
}

}  // namespace

Machine machine_of(const cluster::Cluster& cluster, std::string_view engine) {
  const cluster::ClusterLink* network = cluster.link(cluster::LinkScope::kHosts);
  const cluster::ClusterLink* device = cluster.link(cluster::LinkScope::kDevices);
  if (network == nullptr && device == nullptr) {
    throw UsageError(fmt::format("cluster '{}' has no [[links]]; a prediction needs at least one",
                                 cluster.name));
  }
  Machine machine;
  machine.network = model_of(network == nullptr ? *device : *network);
  machine.device = model_of(device == nullptr ? *network : *device);
  if (device != nullptr) {
    machine.interference.device_link_under_compute = device->under_compute;
  }
  machine.interference.compute_under_transfer = cluster.device.under_transfer;
  machine.nccl = nccl_tuning_of(cluster);
  machine.fits = fits_of_engine(network, engine);
  machine.device_fits = fits_of_engine(device, engine);
  if (has_collective_fit(machine)) {
    machine.algorithm = Algorithm::kMeasured;
  }
  return machine;
}

bool has_collective_fit(const Machine& machine) {
  const auto of_collectives = [](const cluster::LinkFit& fit) {
    return fit.operation != plan::kMessageOperation;
  };
  return std::ranges::any_of(machine.fits, of_collectives) ||
         std::ranges::any_of(machine.device_fits, of_collectives);
}

Algorithm algorithm_named(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [word, algorithm] : kNames) {
    if (word == name) {
      return algorithm;
    }
    known.emplace_back(word);
  }
  throw UsageError(unknown_name_message("collective algorithm", name, known));
}

std::string_view name_of(Algorithm algorithm) {
  for (const auto& [word, named] : kNames) {
    if (named == algorithm) {
      return word;
    }
  }
  return "";
}

void check_costs(const Machine& machine, const SoftwareCosts& software) {
  check_link("device", machine.device);
  check_link("network", machine.network);
  if (machine.copies_bytes_per_s < 0 || machine.copies_bytes_per_s > kMostBytesPerSecond) {
    throw UsageError(fmt::format("a host copies {} bytes/s of messages: 0 to 10^14 can be",
                                 machine.copies_bytes_per_s));
  }
  const Interference& lost = machine.interference;
  check_fraction("device_link_under_compute", lost.device_link_under_compute);
  check_fraction("compute_under_transfer", lost.compute_under_transfer);
  check_noise(machine.noise);
  check_time("issue", software.issue);
  check_time("collective", software.collective);
  check_time("collective_per_rank", software.collective_per_rank);
  check_time("collective_under_compute", software.collective_under_compute);
  check_time("message", software.message);
  for (const KernelCost& kernel : software.kernels) {
    check_time("launch of a kernel", kernel.launch);
    check_time("launch_per_tensor of a kernel", kernel.launch_per_tensor);
    if (!(kernel.bytes_per_s >= 0 && std::isfinite(kernel.bytes_per_s))) {
      throw UsageError(
          fmt::format("kernels move {} bytes/s: must not be negative", kernel.bytes_per_s));
    }
  }
}

}  // namespace paceline::cluster
