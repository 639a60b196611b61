// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/adapters.h"

namespace paceline::cases {

/// The properties of this machine by which "auto" is resolved and cases are checked. It is a plain
/// value, so that tests can make up machines.
struct MachineFacts {
  int cores = 1;             // cores that this process may use, by CPU quota too
  int cuda_devices = 0;      // visible GPUs
  bool native_bf16 = false;  // the CPU has bf16 instructions
  std::vector<std::string> models = {};
  std::vector<std::string> engines = {};  // communication libraries that were built in
  std::vector<Adapter> adapters = {};
  std::vector<int> ranks_per_host = {};  // of the ranks started together; empty: none were

  bool joined() const { return !ranks_per_host.empty(); }
  /// The number of ranks that were started together; 0 if none were.
  int world() const;
  /// The largest number of ranks on this machine such that each has its own core, or with CUDA its
  /// own GPU. If a launcher has started the ranks together, returns their number instead.
  int capacity(const std::string& device) const;
};

/// The smaller of `cpus` and the CPU quota of the control group (rounded up); at least 1.
int cores_within_quota(int cpus);

/// The number of cores that the calling process may use, limited by its affinity mask and by the
/// CPU quota of its control group if there is one; at least 1.
int usable_cores();

/// Whether the text of /proc/cpuinfo lists instructions for bf16 arithmetic (x86 avx512_bf16 or
/// amx_bf16, Arm bf16). Without these libtorch emulates bf16, about 40 times slower than float32.
bool has_native_bf16(const std::string& cpuinfo);

}  // namespace paceline::cases
