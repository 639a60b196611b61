// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "paceline/strategies/topologies/circulant.h"
#include "paceline/strategies/topologies/rows.h"

namespace paceline::strategies {

// Neighbors are the nodes whose distance, counted the shorter way round, is a
// power of the base: BlueFog's SymmetricExponentialGraph.
MakeTopology make_symmetric_exp(const std::string& base) {
  return [by = parameter_number("symmetric-exp", base, 2)](const Nodes& nodes) {
    const auto powers = powers_below(nodes.count, by);
    std::vector<Rank> distances;
    for (Rank ahead = 1; ahead < nodes.count; ++ahead) {
      const Rank shorter =
          ahead <= nodes.count / 2 ? ahead : nodes.count - ahead;
      if (std::ranges::binary_search(powers, shorter)) {
        distances.push_back(ahead);
      }
    }
    return std::make_unique<Circulant>(nodes.count, std::move(distances));
  };
}

}  // namespace paceline::strategies
