// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "paceline/plan/comm_plan.h"
#include "paceline/strategies/topology.h"

namespace paceline::cli {

/// A graph with what is to be said of it.
struct TopologyView {
  std::string name;
  const strategies::Topology& topology;  // of ranks
  strategies::Nodes nodes;
  /// It is one of machines: every rank holds its machine's mean, and sends a share of it.
  bool of_machines = false;
  plan::Step most_steps = 8;  // whose matrices are shown
  std::string model{};        // whose parameters cross; empty: none
  std::int64_t model_bytes = 0;
};

/// Facts about the graph, then its matrix step by step, for a terminal.
std::string topology_text(const TopologyView& view);

}  // namespace paceline::cli
