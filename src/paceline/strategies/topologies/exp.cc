// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "paceline/strategies/topologies/circulant.h"
#include "paceline/strategies/topologies/rows.h"

namespace paceline::strategies {

// Ying et al., NeurIPS 2021, arXiv:2110.13363.  BlueFog's ExponentialGraph
// tests for powers by a rounded logarithm and so misses 243 = 3^5.

MakeTopology make_exp(const std::string& base) {
  return [by = parameter_number("exp", base, 2)](const Nodes& nodes) {
    return std::make_unique<Circulant>(nodes.count,
                                       powers_below(nodes.count, by));
  };
}

/// Each step uses one of the distances of exp, in turn.
MakeTopology make_one_peer_exp(const std::string& base) {
  return [by = parameter_number("one-peer-exp", base, 2)](const Nodes& nodes) {
    std::vector<std::vector<Rank>> steps;
    for (const Rank distance : powers_below(nodes.count, by)) {
      steps.push_back({distance});
    }
    return std::make_unique<Circulant>(nodes.count, std::move(steps));
  };
}

}  // namespace paceline::strategies
