// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/topologies/circulant.h"
#include "paceline/strategies/topologies/rows.h"

namespace paceline::strategies {

// Two nodes are neighbors once, not on both sides.
MakeTopology make_ring(const std::string& direction) {
  if (direction != "both" && direction != "left" && direction != "right") {
    throw UsageError(fmt::format(
        "topology 'ring:{}': both, left or right is wanted", direction));
  }
  return [direction](const Nodes& nodes) {
    const Rank left = nodes.count - 1;
    std::vector<Rank> distances{direction == "left" ? left : 1};
    if (direction == "both" && nodes.count > 2) {
      distances.push_back(left);
    }
    return std::make_unique<Circulant>(nodes.count, std::move(distances));
  };
}

}  // namespace paceline::strategies
