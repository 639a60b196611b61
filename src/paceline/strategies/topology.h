// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/strategies/plan_words.h"

// Graphs over which nodes average, as `topology=` names them: NAME or NAME:PARAMETER.  Each family
// lives in one file of strategies/topologies/, and each graph has one row in topologies/table.cc.

namespace paceline::strategies {

struct Neighbor {
  Rank rank = 0;
  double weight = 0;
};

/// One node's row of the mixing matrix W in one step:
///   x <- self * x + sum of from[j].weight * (x of from[j].rank).
struct Mixing {
  double self = 1;
  std::vector<Neighbor> from;
  std::vector<Rank> to;  // who receives this node's x
};

/// The nodes of a graph: ranks, or hosts.
struct Nodes {
  Rank count = 1;
  Rank local = 1;  // neighbors in rank order that share a host; 0: hosts differ
};

class Topology {
 public:
  virtual ~Topology() = default;

  /// After how many steps the graph repeats; 1: it is static.
  virtual Step period() const { return 1; }

  /// The row of `node` in the mixing matrix of a step.  Steps that are a whole number of periods
  /// apart have equal rows.
  virtual Mixing mixing(Rank node, Step step) const = 0;

  /// The largest number of nodes that `node` receives from in one step.
  virtual std::size_t degree(Rank node) const;

  /// Nodes in blocks of so many may be rotated without a change of the graph; 0: nobody may move.
  virtual Rank block() const { return 0; }

  /// The first row or column of W that does not sum to 1, with its sum; empty where all do, as in
  /// every graph that is defined here.
  virtual std::string imbalance() const { return {}; }

  /// Why values only go round, so that repeated averages never end at one; empty where they do end
  /// there, as in every graph that is defined here.
  virtual std::string recurrence() const { return {}; }
};

/// The graph with other weights, those of push-sum: each node shares what it has out among itself
/// and those it sends to, in equal parts, a_ij = 1 / (1 + receivers of j).  Columns sum to 1, rows
/// need not.
std::unique_ptr<const Topology> even_shares(std::unique_ptr<const Topology> graph);

/// The largest degree of all nodes.
std::size_t largest_degree(const Topology& topology, Rank nodes);

/// The first two nodes that do not receive from each other with equal weights in this step, with
/// these; empty where all do.
std::string asymmetry_of(const Topology& topology, Rank nodes, Step step = 0);

using MakeTopology = std::function<std::unique_ptr<const Topology>(const Nodes& nodes)>;

struct TopologyRow {
  std::string_view name{};
  std::string_view parameter{};  // what stands behind the colon; empty: nothing
  std::string_view fallback{};   // the parameter where none is given
  std::string_view summary{};
  std::string_view paper{};
  /// Throws UsageError for a parameter that cannot be.
  MakeTopology (*make)(const std::string& parameter);
};

/// In the order `paceline list topologies` prints them.
std::span<const TopologyRow> topologies();

/// A topology by name, before the nodes are known.
class TopologyChoice {
 public:
  /// Reads the file of an edge list.  Throws UsageError that lists the known names, or says what
  /// the parameter may be.
  explicit TopologyChoice(std::string_view text);

  /// The name, with its parameter unless that is the default.
  const std::string& text() const { return text_; }

  /// Throws UsageError where the graph does not exist for these nodes.  One node alone has a graph
  /// without edges.
  std::unique_ptr<const Topology> on(const Nodes& nodes) const;

 private:
  std::string text_;
  MakeTopology make_;
};

}  // namespace paceline::strategies
