// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/topologies/hypercube.h"

#include <algorithm>
#include <utility>

namespace paceline::strategies {
namespace {

/// The fewest factors of at most `most` each, not ascending.
std::optional<std::vector<Rank>> fewest_factors(Rank product, Rank most) {
  if (product == 1) {
    return std::vector<Rank>{};
  }
  std::optional<std::vector<Rank>> best;
  for (Rank first = std::min(most, product); first > 1; --first) {
    if (product % first != 0) {
      continue;
    }
    auto rest = fewest_factors(product / first, first);
    if (rest && (!best || rest->size() + 1 < best->size())) {
      rest->insert(rest->begin(), first);
      best = std::move(rest);
    }
  }
  return best;
}

}  // namespace

std::optional<Hypercube> Hypercube::make(Rank nodes, Rank base) {
  auto factors = fewest_factors(nodes, base);
  return factors ? std::optional(Hypercube(std::move(*factors))) : std::nullopt;
}

std::vector<Rank> Hypercube::others(Rank node, Step step) const {
  Rank stride = 1;
  for (Step t = 0; t < step; ++t) {
    stride *= factors_[static_cast<std::size_t>(t)];
  }
  const Rank factor = factors_[static_cast<std::size_t>(step)];
  const Rank digit = node / stride % factor;
  std::vector<Rank> others;
  for (Rank other = 0; other < factor; ++other) {
    if (other != digit) {
      others.push_back(node + (other - digit) * stride);
    }
  }
  return others;
}

}  // namespace paceline::strategies
