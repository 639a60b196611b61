// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/adapters.h"

namespace paceline::cases {

/// What an experiment may use here: the facts that "auto" is resolved with and that cases are
/// checked against.  A plain value, so tests can invent it.
struct MachineFacts {
  int cores = 1;             // that this process may use, quota included
  int cuda_devices = 0;      // visible ones
  bool native_bf16 = false;  // the CPU has bf16 instructions
  std::vector<std::string> models = {};
  std::vector<std::string> engines = {};  // those that were built
  std::vector<Adapter> adapters = {};
  std::vector<int> ranks_per_host = {};  // of a joined world; empty: not joined

  bool joined() const { return !ranks_per_host.empty(); }
  /// Ranks of the joined world; 0 where none was joined.
  int world() const;
  /// Most ranks that get a core or device of their own.
  int capacity(const std::string& device) const;
};

/// CPUs in the affinity mask of the calling thread, ascending.
std::vector<int> allowed_cpus();

/// `cpus`, or the CPU quota of the control group where that is less; at
/// least 1.
int cores_within_quota(int cpus);

/// Cores that the calling process may run on: its affinity mask, and the CPU quota of its control
/// group where there is one; at least 1.
int usable_cores();

/// Whether a /proc/cpuinfo lists instructions for bf16 arithmetic (x86 avx512_bf16 or amx_bf16, Arm
/// bf16).  Without them libtorch emulates bf16, about 40 times slower than float32.
bool has_native_bf16(std::string_view cpuinfo);

}  // namespace paceline::cases
