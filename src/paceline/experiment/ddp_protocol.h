// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::experiment {

/// One row of the DDP benchmark for one model.
struct ProtocolEntry {
  std::string label;  // "1M/2G"
  int ranks = 1;
  bool alone = false;    // trains without an exchange
  bool discard = false;  // warms up, leaves no row
};

/// The sweep of PyTorch's DDP benchmark on a world with so many ranks on each
/// host: a discarded warm-up of one rank, "no ddp", 1M/1G, 1M/2G, 1M/4G ...
/// up to the first host, then 2M/kG, 3M/kG ... over the hosts that have as
/// many ranks as the first.  The original knows k = 8 alone
/// (pytorch/pytorch, benchmarks/distributed/ddp/benchmark.py).
std::vector<ProtocolEntry> ddp_entries(const std::vector<int>& ranks_per_host);

}  // namespace paceline::experiment
