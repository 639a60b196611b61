// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "paceline/strategies/topology.h"

namespace paceline::strategies {

/// The k-peer hyper-hypercube graph: `nodes` is a product of factors of at most
/// k + 1; in step t a node averages with those that differ in its t-th digit
/// only.  All have the exact mean after as many steps as there are factors.
/// Takezawa et al., NeurIPS 2023, arXiv:2305.11420, algorithm 1.
class Hypercube {
 public:
  /// Nothing where `nodes` has a prime factor above `base` = k + 1.
  static std::optional<Hypercube> make(Rank nodes, Rank base);

  Step steps() const { return static_cast<Step>(factors_.size()); }

  /// The other nodes of its group in step `step` of 0 .. steps() - 1.
  std::vector<Rank> others(Rank node, Step step) const;

 private:
  explicit Hypercube(std::vector<Rank> factors)
      : factors_(std::move(factors)) {}

  std::vector<Rank> factors_;
};

}  // namespace paceline::strategies
