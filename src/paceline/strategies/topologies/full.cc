// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <utility>

#include "paceline/strategies/topologies/circulant.h"
#include "paceline/strategies/topologies/rows.h"

namespace paceline::strategies {

MakeTopology make_full(const std::string&) {
  return [](const Nodes& nodes) {
    std::vector<Rank> distances(static_cast<std::size_t>(nodes.count - 1));
    std::iota(distances.begin(), distances.end(), 1);
    return std::make_unique<Circulant>(nodes.count, std::move(distances));
  };
}

}  // namespace paceline::strategies
