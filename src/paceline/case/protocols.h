// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/machine.h"
#include "paceline/case/raw_settings.h"

namespace paceline::cases {

/// One row of PyTorch's DDP benchmark for one model.
struct ProtocolEntry {
  std::string label;  // the row's name in the benchmark's table, such as "1M/2G"
  int ranks = 1;
  bool alone = false;    // trains without communication
  bool discard = false;  // whether this is a warm-up, whose result is not shown
};

/// The sweep of PyTorch's DDP benchmark on a world with these numbers of ranks per host: a
/// discarded warm-up of one rank, "no ddp", 1M/1G, 1M/2G, 1M/4G ... up to k ranks, all of the first
/// host, then 2M/kG, 3M/kG ... over the next hosts as long as they have k ranks too. The original
/// only knows k = 8 (pytorch/pytorch, benchmarks/distributed/ddp/benchmark.py).
std::vector<ProtocolEntry> ddp_entries(const std::vector<int>& ranks_per_host);

/// DLPerf's protocol, the same for Paceline's own runs and for every framework: skip 20 steps, time
/// 100 steps, repeat 7 runs. The result is the median over the runs of the number of samples
/// divided by the wall time, on the clock of the slowest rank (Oneflow-Inc/DLPerf, README.md).
inline constexpr int kDlperfWarmup = 20;
inline constexpr int kDlperfSteps = 100;
inline constexpr int kDlperfRuns = 7;

/// The numbers of ranks in DLPerf's protocol: one device, then all devices of one, two and four
/// nodes (1n1d, 1n8d, 2n16d, 4n32d), as far as the machine has them.
std::vector<int> dlperf_worlds(const MachineFacts& machine, const std::string& device);

/// The numbers of ranks that a value of `ranks` stands for. A number stands for itself; `world` for
/// all ranks that were started together, else 1; `max` for one rank for each core or GPU; `auto`
/// for `least` (a power of two), doubled repeatedly up to max, and max itself. `max:8` and `auto:8`
/// are limited to 8. `dlperf` stands for 1 and all ranks of one, two and four hosts. Throws
/// UsageError for anything else.
std::vector<int> worlds_of(const RawValue& ranks, const MachineFacts& machine,
                           const std::string& device, int least);

/// Adds the values of DLPerf's protocol for the keys that `values` does not have.
RawValues with_dlperf_defaults(RawValues values);

/// States the numbers of steps and runs of a case if any is below that of DLPerf's protocol: "2
/// steps skipped and 5 timed, 1 run". Empty if none is.
std::string dlperf_deviation_text(const Case& c, int runs);

}  // namespace paceline::cases
