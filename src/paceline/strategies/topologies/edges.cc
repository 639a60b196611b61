// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/strategies/topologies/rows.h"
#include "paceline/strategies/topology_analysis.h"

// A graph from a file of the user.  Each edge is a line FROM TO [WEIGHT]; ranks count from 0, and
// `#` begins a comment.  FROM sends its value, and TO receives it with that weight.  A line with
// FROM = TO gives a node's own weight.  Without such a line, the own weight is 1 less the weights
// of the node's other lines.  A given own weight may be rounded: if the row sums to 1 within
// kRounding, this difference replaces it.  If no line has a weight, each node weighs its own value
// and all received values equally.

namespace paceline::strategies {
namespace {

constexpr Rank kMostNodes = 1024;   // limits the work on the matrix of a file
constexpr double kRounding = 1e-6;  // tolerance for an own weight from a file

struct EdgeLine {
  Rank from = 0;
  Rank to = 0;
  std::optional<double> weight;
  std::size_t line = 0;  // line number in the file, from 1

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
    throw UsageError(
        fmt::format("{}: '{}' is not of the form FROM TO [WEIGHT], two ranks from 0 to {} and a "
                    "number from 0 to 1",
                    where, shown(line), kMostNodes - 1));
  }
  if (!weight && *from == *to) {
    throw UsageError(fmt::format("{}: '{}': a node's own edge wants a weight", where, shown(line)));
  }
  return {.from = *from, .to = *to, .weight = weight};
}

class Edges final : public Topology {
 public:
  explicit Edges(std::map<Rank, Mixing> rows) : rows_(std::move(rows)) {}
  Edges(std::map<Rank, Mixing> rows, std::string imbalance, std::string recurrence)
      : rows_(std::move(rows)),
        imbalance_(std::move(imbalance)),
        recurrence_(std::move(recurrence)) {}

  Mixing mixing(Rank node, Step) const override {
    const auto row = rows_.find(node);
    return row == rows_.end() ? Mixing{} : row->second;
  }

  std::string imbalance() const override { return imbalance_; }
  std::string recurrence() const override { return recurrence_; }

 private:
  std::map<Rank, Mixing> rows_;
  std::string imbalance_, recurrence_;
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
      throw UsageError(
          fmt::format("{}: the edge {} {} was given before", where, edge.from, edge.to));
    }
    edges.push_back(edge);
    if (edge.weight.has_value() != edges.front().weight.has_value()) {
      throw UsageError(fmt::format("{}: either all edges have weights or none has", where));
    }
  }
  if (edges.empty()) {
    throw UsageError(fmt::format("{}: no edges", path));
  }
  return edges;
}

// Returns 1 less the weights of the other nodes, with values that are only rounding errors set to
// 0.
double rest_of(const std::string& path, Rank node, const Mixing& row) {
  constexpr double kNothing = 1e-12;
  double rest = 1;
  for (const Neighbor& from : row.from) {
    rest -= from.weight;
  }
  if (rest < -kNothing) {
    throw UsageError(
        fmt::format("{}: the weights with which rank {} takes the values of others sum to {:.12g}; "
                    "at most 1 is possible",
                    path, node, 1 - rest));
  }
  return rest < kNothing ? 0 : rest;
}

std::map<Rank, Mixing> rows_of(const std::string& path, const std::vector<EdgeLine>& edges) {
  std::map<Rank, Mixing> rows;
  std::map<Rank, double> own;
  for (const EdgeLine& edge : edges) {
    Mixing& row = rows[edge.to];
    if (edge.from == edge.to) {
      own[edge.to] = *edge.weight;
      continue;
    }
    row.from.push_back({edge.from, edge.weight.value_or(0)});
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
      continue;
    }
    row.self = rest_of(path, node, row);
    if (own.contains(node) && std::abs(own[node] - row.self) > kRounding) {
      row.self = own[node];
    }
  }
  return rows;
}

// The first node that cannot be reached from node 0 along `next`.
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
  return missing == reached.end() ? std::nullopt
                                  : std::optional(static_cast<Rank>(missing - reached.begin()));
}

// The greatest common divisor of the lengths of all closed walks, for a graph in which every node
// reaches every other node.  If it is above 1, values only circulate.
Rank cycle_of(const std::vector<std::vector<Rank>>& takers, const Topology& graph) {
  std::vector<Rank> steps_from_0(takers.size(), -1);
  std::vector<Rank> open{0};
  steps_from_0[0] = 0;
  Rank cycle = 0;
  for (std::size_t next = 0; next < open.size(); ++next) {
    const Rank node = open[next];
    const Rank steps = steps_from_0[static_cast<std::size_t>(node)];
    if (graph.mixing(node, 0).self > 0) {
      return 1;
    }
    for (const Rank to : takers[static_cast<std::size_t>(node)]) {
      Rank& known = steps_from_0[static_cast<std::size_t>(to)];
      if (known < 0) {
        known = steps + 1;
        open.push_back(to);
      }
      cycle = std::gcd(cycle, std::abs(steps + 1 - known));
    }
  }
  return cycle;
}

// Throws UsageError if some node does not reach another, since averages then never reach one mean.
void check_connected(const std::string& path, const std::vector<std::vector<Rank>>& takers,
                     const std::vector<std::vector<Rank>>& sources) {
  const auto nodes = static_cast<Rank>(takers.size());
  const auto not_reached =
      unreached(nodes, [&](Rank node) { return takers[static_cast<std::size_t>(node)]; });
  const auto reaches_nobody =
      unreached(nodes, [&](Rank node) { return sources[static_cast<std::size_t>(node)]; });
  if (not_reached || reaches_nobody) {
    throw UsageError(fmt::format(
        "topology 'edges:{}': {} ranks are not connected by its edges: nothing of rank {} reaches "
        "rank {}",
        path, nodes, not_reached ? 0 : *reaches_nobody, not_reached ? *not_reached : 0));
  }
}

// Says why values only circulate among the nodes, which must be connected; empty if they do not.
std::string recurrence_of(const std::string& path, const std::map<Rank, Mixing>& rows, Rank nodes) {
  const Edges graph(rows);
  std::vector<std::vector<Rank>> takers(static_cast<std::size_t>(nodes));
  std::vector<std::vector<Rank>> sources(takers.size());
  for (Rank node = 0; node < nodes; ++node) {
    for (const auto& [rank, weight] : graph.mixing(node, 0).from) {
      if (weight > 0) {
        sources[static_cast<std::size_t>(node)].push_back(rank);
        takers[static_cast<std::size_t>(rank)].push_back(node);
      }
    }
  }
  check_connected(path, takers, sources);
  const Rank cycle = cycle_of(takers, graph);
  return cycle == 1 ? ""
                    : fmt::format(
                          "values only go round over 'edges:{}': no rank keeps a share of its own, "
                          "and each value is back after a multiple of {} steps, so ranks never "
                          "agree; give a rank a weight of its own, a line like '0 0 0.5'",
                          path, cycle);
}

}  // namespace

MakeTopology make_edges(const std::string& path) {
  const auto edges = edges_in(path);
  const auto rows = rows_of(path, edges);
  const EdgeLine last = *std::ranges::max_element(edges, {}, &EdgeLine::larger);
  const Rank largest = last.larger();
  const std::string uneven = imbalance_of(matrix_of(Edges(rows), largest + 1, 0));
  return [rows, largest, line = last.line, path, uneven](const Nodes& nodes) {
    if (largest >= nodes.count) {
      throw UsageError(
          fmt::format("{}, line {}: an edge of rank {}; here are {} ranks, counted from 0", path,
                      line, largest, nodes.count));
    }
    return std::make_unique<Edges>(rows, uneven, recurrence_of(path, rows, nodes.count));
  };
}

}  // namespace paceline::strategies
