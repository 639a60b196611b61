// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "paceline/predict/collective_time.h"
#include "paceline/predict/link_calibration.h"
#include "paceline/predict/request_costs.h"

// Hosts of eight A100 whose constants are known, and times that follow from them.

namespace paceline::predict {

inline cluster::Cluster hosts_of_a100() {
  cluster::Cluster cluster;
  cluster.device.name = "NVIDIA A100-SXM4-80GB";
  for (int host = 0; host < 64; ++host) {
    cluster.hosts.push_back(
        {.name = "n" + std::to_string(host), .slots = 8, .interface = {}, .memory_bytes = {}});
  }
  cluster.links = {{.name = "nvlink",
                    .scope = cluster::LinkScope::kDevices,
                    .sharing = cluster::LinkSharing::kDevice,
                    .bytes_per_s = 300e9,
                    .latency_ps = 2'000'000,
                    .fits = {}},
                   {.name = "network",
                    .scope = cluster::LinkScope::kHosts,
                    .sharing = cluster::LinkSharing::kDevice,
                    .bytes_per_s = 25e9,
                    .latency_ps = 2'000'000,
                    .fits = {}}};
  return cluster;
}

inline cluster::CollectiveCall all_reduce(int ranks, std::int64_t bytes) {
  return {
      .pattern = plan::Pattern::kAllReduce,
      .bytes = bytes,
      .group = {
          .ranks = ranks, .hosts = (ranks + 7) / 8, .ranks_on_fullest_host = std::min(ranks, 8)}};
}

inline double nccl_seconds(const cluster::CollectiveCall& call, const cluster::Cluster& cluster) {
  const EngineCosts& engine = engine_costs_named("nccl");
  return collective_s(call, machine_for(cluster, engine), engine.costs);
}

/// The times of all-reduces of 1 KiB to 256 MiB, or from `least` bytes on.
inline std::vector<MeasuredTime> times_of(std::vector<int> worlds, const cluster::Cluster& cluster,
                                          std::int64_t least = 1024) {
  std::vector<MeasuredTime> times;
  for (const int ranks : worlds) {
    for (std::int64_t bytes = least; bytes <= 256 << 20; bytes *= 4) {
      const cluster::CollectiveCall call = all_reduce(ranks, bytes);
      times.push_back({.call = call, .seconds = nccl_seconds(call, cluster)});
    }
  }
  return times;
}

}  // namespace paceline::predict
