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

// Graphs over which nodes average, named by the option `topology=` as NAME or NAME:PARAMETER.  Each
// family of graphs is in one file of strategies/topologies/, and each graph has one row in
// topologies/table.cc.

namespace paceline::strategies {

struct Neighbor {
  Rank rank = 0;
  double weight = 0;
};

/// One node's row of the mixing matrix W in one step:
///   x <- self * x + sum of from[j].weight * (x of from[j].rank).
struct MixingRow {
  double self = 1;
  std::vector<Neighbor> from;
  std::vector<Rank> to;  // the nodes that receive this node's x
};

/// Returns the row in which `renumber(node)` replaces every other node.
MixingRow renumbered(MixingRow row, const std::function<Rank(Rank)>& renumber);

/// The nodes of a graph: ranks, or hosts.
struct GraphNodes {
  Rank count = 1;
  Rank local = 1;  // ranks per host, in rank order; 0: hosts have unequal sizes
};

class Topology {
 public:
  virtual ~Topology() = default;

  /// The number of steps after which the graph repeats; 1 for a static graph.
  virtual Step period() const { return 1; }

  /// The row of `node` in the mixing matrix of a step.  Rows of steps that lie a multiple of the
  /// period apart are equal.
  virtual MixingRow mixing(Rank node, Step step) const = 0;

  /// The largest number of nodes that `node` receives from in one step.
  virtual std::size_t degree(Rank node) const;

  /// Rotating the nodes by a multiple of this number leaves the graph unchanged. 0: every rotation
  /// changes it.
  virtual Rank block() const { return 0; }

  /// Describes the first row or column of W that does not sum to 1, with its sum; empty if all sum
  /// to 1, as in every built-in graph.
  virtual std::string imbalance_text() const { return {}; }

  /// Returns text that says why values only circulate, so that repeated averages never converge to
  /// a common value; empty if they converge, as in every built-in graph.
  virtual std::string recurrence_text() const { return {}; }
};

/// Returns the graph with the weights of push-sum: each node divides its value equally among itself
/// and its receivers, a_ij = 1 / (1 + receivers of j).  Columns sum to 1; rows need not.
std::unique_ptr<const Topology> with_push_sum_weights(std::unique_ptr<const Topology> graph);

/// Returns the largest number of neighbors that any node receives from in one step.
std::size_t largest_degree(const Topology& topology, Rank nodes);

/// Describes the first two nodes that do not receive from each other with equal weights in this
/// step, with the weights; empty if all do.
std::string asymmetry_text_of(const Topology& topology, Rank nodes, Step step = 0);

using TopologyFactory = std::function<std::unique_ptr<const Topology>(const GraphNodes& nodes)>;

struct TopologyRow {
  std::string_view name{};
  std::string_view parameter{};  // meaning of the text after the colon; empty: there is no
                                 // parameter
  std::string_view fallback{};   // the default parameter
  std::string_view summary{};
  std::string_view paper{};
  /// Throws UsageError for an invalid parameter.
  TopologyFactory (*make)(const std::string& parameter);
};

/// The table of topologies, in the order in which `paceline list topologies` prints them.
std::span<const TopologyRow> topologies();

/// A topology chosen by name; it makes a graph once the nodes are known.
class TopologyChoice {
 public:
  /// Parses `text` and reads the file of an edge list.  Throws UsageError that lists the known
  /// names, or says which parameters are valid.
  explicit TopologyChoice(std::string_view text);

  /// The name of the topology, with its parameter unless that is the default.
  const std::string& text() const { return text_; }

  /// Makes the graph on these nodes.  Throws UsageError if it does not exist for them.  A single
  /// node has a graph without edges.
  std::unique_ptr<const Topology> on(const GraphNodes& nodes) const;

 private:
  std::string text_;
  TopologyFactory make_;
};

}  // namespace paceline::strategies
