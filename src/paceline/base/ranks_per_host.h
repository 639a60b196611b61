// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace paceline {

/// Returns the number of ranks on each host: {2, 1} for the hosts a, a, b.  Consecutive ranks with
/// the same host count as one host.
template <class Host>
std::vector<int> ranks_per_host(std::span<const Host> host_of_rank) {
  std::vector<int> counts;
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    if (rank == 0 || host_of_rank[rank] != host_of_rank[rank - 1]) {
      counts.push_back(0);
    }
    ++counts.back();
  }
  return counts;
}

}  // namespace paceline
