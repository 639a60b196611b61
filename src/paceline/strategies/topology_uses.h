// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/strategies/topology.h"

namespace paceline::strategies {

/// An exchange that averages over a graph, with the parts of a strategy that
/// may stand beside it.
struct TopologyUse {
  std::string_view exchange;
  std::vector<std::string_view> updates{};
  std::vector<std::string_view> codecs{};     // that carry its averages
  std::shared_ptr<const Topology> weights{};  // ExchangeRule::own_weights
};

struct TopologyUses {
  std::vector<TopologyUse> accepted;
  /// Why other strategies are refused on this graph, each reason once.
  std::vector<std::string> refusals;
};

/// What strategies say of the graph called so, found by making their plans.
/// `of_hosts`: the graph is one of hosts of `nodes.local` ranks.
TopologyUses uses_of(const std::string& topology,
                     const Nodes& nodes,
                     bool of_hosts);

}  // namespace paceline::strategies
