// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "paceline/strategies/topology.h"

namespace paceline::strategies {

/// Every node sends so many nodes ahead and receives from as many behind, with
/// equal weights: 1 / (distances + 1) for each and for itself.
class Circulant final : public Topology {
 public:
  /// `distances`: those of every step.
  Circulant(Rank nodes, std::vector<Rank> distances)
      : nodes_(nodes), distances_{std::move(distances)} {}

  /// `distances[t]`: those of step t.
  Circulant(Rank nodes, std::vector<std::vector<Rank>> distances)
      : nodes_(nodes), distances_(std::move(distances)) {}

  Step period() const override { return static_cast<Step>(distances_.size()); }
  Mixing mixing(Rank node, Step step) const override;
  std::size_t degree(Rank node) const override;
  Rank block() const override { return 1; }

 private:
  Rank nodes_;
  std::vector<std::vector<Rank>> distances_;
};

/// 1, base, base^2, ... below `bound`.
std::vector<Rank> powers_below(Rank bound, Rank base);

/// The node, counted around the end.
constexpr Rank wrap(Rank node, Rank nodes) {
  return (node % nodes + nodes) % nodes;
}

}  // namespace paceline::strategies
