// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/plan/comm_plan.h"
#include "paceline/strategies/topology.h"

namespace paceline::cli {

/// A graph over ranks, and what its description should show.
struct TopologyView {
  std::string name;
  const strategies::Topology& topology;  // graph over ranks
  strategies::GraphNodes nodes;
  /// Whether the nodes of the graph are machines instead of ranks. Every rank then holds the mean
  /// over its machine's ranks, and sends its part of that mean.
  bool of_machines = false;
  plan::Step most_steps = 8;  // most steps whose matrices are shown
};

/// Facts about the graph, then its matrix for each step, for a terminal.
std::string topology_text(const TopologyView& view);

}  // namespace paceline::cli
