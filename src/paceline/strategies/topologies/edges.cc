// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/strategies/topologies/rows.h"
#include "paceline/strategies/topology_analysis.h"

// A graph that the user writes: a line FROM TO [WEIGHT] for each edge, ranks
// from 0, `#` begins a comment.  FROM sends its value, TO takes it with that
// weight.  A line with FROM = TO is a node's own weight; left out, it is what
// the others leave of 1.  Without weights each node weighs all it has equally.

namespace paceline::strategies {
namespace {

constexpr Rank kMostNodes = 1024;  // the matrix of a file is examined

struct EdgeLine {
  Rank from = 0;
  Rank to = 0;
  std::optional<double> weight;
  std::size_t line = 0;  // of the file, from 1 on

  Rank larger() const { return std::max(from, to); }
};

template <class Number>
std::optional<Number> number_at(std::string_view& text) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const auto value = number_from<Number>(text.substr(0, end));
  if (value) {
    text = trimmed(text.substr(end));
  }
  return value;
}

EdgeLine edge_of(std::string_view text, const std::string& where) {
  const std::string_view line = text;
  const auto from = number_at<Rank>(text), to = number_at<Rank>(text);
  const auto weight = text.empty() ? std::nullopt : number_at<double>(text);
  const auto is_node = [](const std::optional<Rank>& node) {
    return node && *node >= 0 && *node < kMostNodes;
  };
  if (!is_node(from) || !is_node(to) || !text.empty() ||
      (weight && !(*weight >= 0 && *weight <= 1))) {
    throw UsageError(fmt::format(
        "{}: '{}' is not of the form FROM TO [WEIGHT], two ranks from 0 to {} "
        "and a number from 0 to 1",
        where,
        shown(line),
        kMostNodes - 1));
  }
  if (!weight && *from == *to) {
    throw UsageError(fmt::format(
        "{}: '{}': a node's own edge wants a weight", where, shown(line)));
  }
  return {.from = *from, .to = *to, .weight = weight};
}

class Edges final : public Topology {
 public:
  Edges(std::map<Rank, Mixing> rows, std::string imbalance)
      : rows_(std::move(rows)), imbalance_(std::move(imbalance)) {}

  Mixing mixing(Rank node, Step) const override {
    const auto row = rows_.find(node);
    return row == rows_.end() ? Mixing{} : row->second;
  }

  std::string imbalance() const override { return imbalance_; }

 private:
  std::map<Rank, Mixing> rows_;
  std::string imbalance_;
};

std::vector<EdgeLine> edges_in(const std::string& path) {
  std::vector<EdgeLine> edges;
  std::set<std::pair<Rank, Rank>> given;
  const auto lines = split_lines(read_text(path));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string where = fmt::format("{}, line {}", path, i + 1);
    std::string_view line = lines[i];
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) {
      continue;
    }
    EdgeLine edge = edge_of(line, where);
    edge.line = i + 1;
    if (!given.insert({edge.from, edge.to}).second) {
      throw UsageError(fmt::format(
          "{}: the edge {} {} was given before", where, edge.from, edge.to));
    }
    edges.push_back(edge);
    if (edge.weight.has_value() != edges.front().weight.has_value()) {
      throw UsageError(
          fmt::format("{}: either all edges have weights or none has", where));
    }
  }
  if (edges.empty()) {
    throw UsageError(fmt::format("{}: no edges", path));
  }
  return edges;
}

// What the weights of the others leave is rounded.
void check_own_weight(const std::string& path, Rank node, double own) {
  if (own < -1e-6) {
    throw UsageError(
        fmt::format("{}: the weights with which rank {} takes the values of "
                    "others sum to {:.6g}; at most 1 is possible",
                    path,
                    node,
                    1 - own));
  }
}

std::map<Rank, Mixing> rows_of(const std::string& path,
                               const std::vector<EdgeLine>& edges) {
  std::map<Rank, Mixing> rows;
  std::map<Rank, double> own;
  for (const EdgeLine& edge : edges) {
    Mixing& row = rows[edge.to];
    if (edge.from == edge.to) {
      own[edge.to] = *edge.weight;
      continue;
    }
    row.from.push_back({edge.from, edge.weight.value_or(0)});
    row.self -= edge.weight.value_or(0);
    rows[edge.from].to.push_back(edge.to);
  }
  for (auto& [node, row] : rows) {
    std::ranges::sort(row.from, {}, &Neighbor::rank);
    std::ranges::sort(row.to);
    if (!edges.front().weight) {
      row.self = 1.0 / static_cast<double>(row.from.size() + 1);
      for (Neighbor& from : row.from) {
        from.weight = row.self;
      }
    } else if (own.contains(node)) {
      row.self = own[node];
    }
    check_own_weight(path, node, row.self);
  }
  return rows;
}

// The first node that `next` does not lead to from node 0, in any number of
// steps.
template <class Next>
std::optional<Rank> unreached(Rank nodes, const Next& next) {
  std::vector<bool> reached(static_cast<std::size_t>(nodes));
  std::vector<Rank> open{0};
  reached[0] = true;
  while (!open.empty()) {
    const Rank node = open.back();
    open.pop_back();
    for (const Rank other : next(node)) {
      if (!reached[static_cast<std::size_t>(other)]) {
        reached[static_cast<std::size_t>(other)] = true;
        open.push_back(other);
      }
    }
  }
  const auto missing = std::ranges::find(reached, false);
  return missing == reached.end()
             ? std::nullopt
             : std::optional(static_cast<Rank>(missing - reached.begin()));
}

// Averages of parts that are not connected never end at one mean.
void check_connected(const std::string& path,
                     const Topology& graph,
                     Rank nodes) {
  const auto sources = [&](Rank node) {
    std::vector<Rank> from;
    for (const auto& [rank, weight] : graph.mixing(node, 0).from) {
      if (weight > 0) {
        from.push_back(rank);
      }
    }
    return from;
  };
  std::vector<std::vector<Rank>> takers(static_cast<std::size_t>(nodes));
  for (Rank node = 0; node < nodes; ++node) {
    for (const Rank from : sources(node)) {
      takers[static_cast<std::size_t>(from)].push_back(node);
    }
  }
  const auto not_reached = unreached(
      nodes, [&](Rank node) { return takers[static_cast<std::size_t>(node)]; });
  const auto reaches_nobody = unreached(nodes, sources);
  if (not_reached || reaches_nobody) {
    throw UsageError(fmt::format(
        "topology 'edges:{}': {} ranks are not connected by its edges: nothing "
        "of rank {} reaches rank {}",
        path,
        nodes,
        not_reached ? 0 : *reaches_nobody,
        not_reached ? *not_reached : 0));
  }
}

}  // namespace

MakeTopology make_edges(const std::string& path) {
  const auto edges = edges_in(path);
  const auto rows = rows_of(path, edges);
  const EdgeLine last = *std::ranges::max_element(edges, {}, &EdgeLine::larger);
  const Rank largest = last.larger();
  const std::string uneven =
      imbalance_of(matrix_of(Edges(rows, ""), largest + 1, 0));
  return [rows, largest, line = last.line, path, uneven](const Nodes& nodes) {
    if (largest >= nodes.count) {
      throw UsageError(fmt::format(
          "{}, line {}: an edge of rank {}; here are {} ranks, counted from 0",
          path,
          line,
          largest,
          nodes.count));
    }
    auto graph = std::make_unique<Edges>(rows, uneven);
    check_connected(path, *graph, nodes.count);
    return graph;
  };
}

}  // namespace paceline::strategies
