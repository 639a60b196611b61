// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/machine.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <sstream>

#include "paceline/base/process.h"

namespace paceline::cases {
namespace {

/// The CPU quota of the control group in cores, or 0 if there is none. The file contains the quota
/// and the period in microseconds: "max 100000" or "200000 100000".
double quota_in_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) {
    return 0;
  }
  return std::strtod(quota.c_str(), nullptr) / period;
}

}  // namespace

int MachineFacts::world() const {
  return std::accumulate(ranks_per_host.begin(), ranks_per_host.end(), 0);
}

int MachineFacts::capacity(const std::string& device) const {
  if (joined()) {
    return world();
  }
  return std::max(1, device == "cuda" ? cuda_devices : cores);
}

int cores_within_quota(int cpus) {
  const int cores = std::max(1, cpus);
  const double quota = quota_in_cores();
  return quota > 0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, cores) : cores;
}

int usable_cores() { return cores_within_quota(static_cast<int>(allowed_cpus().size())); }

bool has_native_bf16(const std::string& cpuinfo) {
  std::istringstream words(cpuinfo);
  const std::set<std::string> names{std::istream_iterator<std::string>(words), {}};
  return names.contains("avx512_bf16") || names.contains("amx_bf16") || names.contains("bf16");
}

}  // namespace paceline::cases
