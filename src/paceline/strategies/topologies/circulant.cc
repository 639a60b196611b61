// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/topologies/circulant.h"

#include <algorithm>

namespace paceline::strategies {

Mixing Circulant::mixing(Rank node, Step step) const {
  const auto& distances = distances_[static_cast<std::size_t>(step % period())];
  Mixing mixing;
  mixing.self = 1.0 / static_cast<double>(distances.size() + 1);
  for (const Rank distance : distances) {
    mixing.from.push_back({wrap(node - distance, nodes_), mixing.self});
    mixing.to.push_back(wrap(node + distance, nodes_));
  }
  return mixing;
}

std::size_t Circulant::degree(Rank) const {
  return std::ranges::max_element(distances_, {}, &std::vector<Rank>::size)
      ->size();
}

std::vector<Rank> powers_below(Rank bound, Rank base) {
  std::vector<Rank> powers;
  for (Step power = 1; power < bound; power *= base) {
    powers.push_back(static_cast<Rank>(power));
  }
  return powers;
}

}  // namespace paceline::strategies
