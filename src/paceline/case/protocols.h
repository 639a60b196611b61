// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/machine.h"
#include "paceline/case/raw_settings.h"

namespace paceline::cases {

/// One row of the DDP benchmark for one model.
struct ProtocolEntry {
  std::string label;  // "1M/2G"
  int ranks = 1;
  bool alone = false;    // trains without an exchange
  bool discard = false;  // warms up, leaves no row
};

/// The sweep of PyTorch's DDP benchmark on a world with so many ranks on each host: a discarded
/// warm-up of one rank, "no ddp", 1M/1G, 1M/2G, 1M/4G ...
/// up to the first host, then 2M/kG, 3M/kG ... over the hosts that have as
/// many ranks as the first.  The original knows k = 8 alone
/// (pytorch/pytorch, benchmarks/distributed/ddp/benchmark.py).
std::vector<ProtocolEntry> ddp_entries(const std::vector<int>& ranks_per_host);

/// DLPerf's protocol, one for our own runs and for every framework: skip 20 steps, time 100, 7
/// runs; the figure is the median over runs of the samples in the window over its wall time on the
/// slowest rank's clock (Oneflow-Inc/DLPerf, README.md).
inline constexpr int kDlperfWarmup = 20;
inline constexpr int kDlperfSteps = 100;
inline constexpr int kDlperfRuns = 7;

/// One device, then all devices of a node, of two nodes and of four: 1n1d, 1n8d, 2n16d, 4n32d, as
/// far as the machine goes.
std::vector<int> dlperf_worlds(const MachineFacts& machine, const std::string& device);

/// The worlds that a value of `ranks` stands for here: a number itself;
/// `world` all ranks that were started together, else 1; `max` one rank for
/// each core or GPU; `auto` `least`, a power of two, doubled up to max, and max; `max:8`, `auto:8`
/// at most 8; `dlperf` 1, all of a host, of two and of four.
/// Throws UsageError for anything else.
std::vector<int> worlds_of(const RawValue& ranks, const MachineFacts& machine,
                           const std::string& device, int least);

/// The values of DLPerf's protocol for what `values` leaves out.
RawValues with_dlperf_defaults(RawValues values);

/// How the settings fall short of the protocol: "2 steps skipped and 5 timed,
/// 1 run"; empty where they do not.
std::string shortened_dlperf(const Case& c, int runs);

}  // namespace paceline::cases
