// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/topologies/rows.h"

// The graphs in which all nodes have neighbors at the same distances: exp, one-peer-exp,
// symmetric-exp, ring and full.

namespace paceline::strategies {
namespace {

/// Every node sends to the nodes that lie `distances` ahead and receives from those as far behind.
/// The weight of each of them and of the node itself is 1 / (number of distances + 1).
class Circulant final : public Topology {
 public:
  /// Every step uses all `distances`.
  Circulant(Rank nodes, std::vector<Rank> distances)
      : nodes_(nodes), distances_{std::move(distances)} {}

  /// Step t uses `distances[t]`.
  Circulant(Rank nodes, std::vector<std::vector<Rank>> distances)
      : nodes_(nodes), distances_(std::move(distances)) {}

  Step period() const override { return static_cast<Step>(distances_.size()); }
  MixingRow mixing(Rank node, Step step) const override {
    const auto& distances = distances_[static_cast<std::size_t>(step % period())];
    MixingRow mixing;
    mixing.self = 1.0 / static_cast<double>(distances.size() + 1);
    for (const Rank distance : distances) {
      mixing.from.push_back({wrap(node - distance, nodes_), mixing.self});
      mixing.to.push_back(wrap(node + distance, nodes_));
    }
    return mixing;
  }

  std::size_t degree(Rank) const override {
    return std::ranges::max_element(distances_, {}, &std::vector<Rank>::size)->size();
  }

  Rank block() const override { return 1; }

 private:
  Rank nodes_;
  std::vector<std::vector<Rank>> distances_;
};

/// Returns the powers 1, base, base^2, ... that are below `bound`.
std::vector<Rank> powers_below(Rank bound, Rank base) {
  std::vector<Rank> powers;
  for (Step power = 1; power < bound; power *= base) {
    powers.push_back(static_cast<Rank>(power));
  }
  return powers;
}

}  // namespace

// The static exponential graph of Ying et al., NeurIPS 2021, arXiv:2110.13363.  BlueFog's
// ExponentialGraph tests for powers by a rounded logarithm and therefore misses 243 = 3^5.

TopologyFactory make_exp(const std::string& base) {
  return [by = parameter_number("exp", base, 2)](const GraphNodes& nodes) {
    return std::make_unique<Circulant>(nodes.count, powers_below(nodes.count, by));
  };
}

/// Each step uses the next one of the distances of make_exp(), in turn.
TopologyFactory make_one_peer_exp(const std::string& base) {
  return [by = parameter_number("one-peer-exp", base, 2)](const GraphNodes& nodes) {
    std::vector<std::vector<Rank>> steps;
    for (const Rank distance : powers_below(nodes.count, by)) {
      steps.push_back({distance});
    }
    return std::make_unique<Circulant>(nodes.count, std::move(steps));
  };
}

// The neighbors are the nodes whose distance, counted the shorter way around, is a power of the
// base, as in BlueFog's SymmetricExponentialGraph.
TopologyFactory make_symmetric_exp(const std::string& base) {
  return [by = parameter_number("symmetric-exp", base, 2)](const GraphNodes& nodes) {
    const auto powers = powers_below(nodes.count, by);
    std::vector<Rank> distances;
    for (Rank ahead = 1; ahead < nodes.count; ++ahead) {
      const Rank shorter = ahead <= nodes.count / 2 ? ahead : nodes.count - ahead;
      if (std::ranges::binary_search(powers, shorter)) {
        distances.push_back(ahead);
      }
    }
    return std::make_unique<Circulant>(nodes.count, std::move(distances));
  };
}

// In a ring of two nodes, the other node is one neighbor, not two.
TopologyFactory make_ring(const std::string& direction) {
  if (direction != "both" && direction != "left" && direction != "right") {
    throw UsageError(fmt::format("topology 'ring:{}': both, left or right is wanted", direction));
  }
  return [direction](const GraphNodes& nodes) {
    const Rank left = nodes.count - 1;
    std::vector<Rank> distances{direction == "left" ? left : 1};
    if (direction == "both" && nodes.count > 2) {
      distances.push_back(left);
    }
    return std::make_unique<Circulant>(nodes.count, std::move(distances));
  };
}

TopologyFactory make_full(const std::string&) {
  return [](const GraphNodes& nodes) {
    std::vector<Rank> distances(static_cast<std::size_t>(nodes.count - 1));
    std::iota(distances.begin(), distances.end(), 1);
    return std::make_unique<Circulant>(nodes.count, std::move(distances));
  };
}

}  // namespace paceline::strategies
