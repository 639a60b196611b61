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
// FROM = TO gives a node's own weight.  Without such a line, a node's own weight is 1 minus the sum
// of the weights of its other lines.  A given own weight may be rounded: if the row sums to 1
// within kRounding, this difference replaces it.  If no line has a weight, each node weighs its own
// value and all received values equally.

namespace paceline::strategies {
namespace {

constexpr Rank kMostNodes = 1024;   // limits the work on the mixing matrix
constexpr double kRounding = 1e-6;  // tolerance for a node's own weight in the file

struct EdgeLine {
  Rank from = 0;
  Rank to = 0;
  std::optional<double> weight;
  std::size_t line = 0;  // line number in the file, from 1

  Rank larger() const { return std::max(from, to); }
};

template <class Number>
std::optional<Number> parse_next_number(std::string_view& text) {
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
  const auto from = parse_next_number<Rank>(text), to = parse_next_number<Rank>(text);
  const auto weight = text.empty() ? std::nullopt : parse_next_number<double>(text);
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

class EdgeListTopology final : public Topology {
 public:
  explicit EdgeListTopology(std::map<Rank, MixingRow> rows) : rows_(std::move(rows)) {}
  EdgeListTopology(std::map<Rank, MixingRow> rows, std::string imbalance_text,
                   std::string recurrence_text)
      : rows_(std::move(rows)),
        imbalance_(std::move(imbalance_text)),
        recurrence_(std::move(recurrence_text)) {}

  MixingRow mixing(Rank node, Step) const override {
    const auto row = rows_.find(node);
    return row == rows_.end() ? MixingRow{} : row->second;
  }

  std::string imbalance_text() const override { return imbalance_; }
  std::string recurrence_text() const override { return recurrence_; }

 private:
  std::map<Rank, MixingRow> rows_;
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

// Returns 1 minus the sum of the weights of the other nodes; 0 if the difference is only a rounding
// error.
double remaining_weight(const std::string& path, Rank node, const MixingRow& row) {
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

std::map<Rank, MixingRow> rows_of(const std::string& path, const std::vector<EdgeLine>& edges) {
  std::map<Rank, MixingRow> rows;
  std::map<Rank, double> own;
  for (const EdgeLine& edge : edges) {
    MixingRow& row = rows[edge.to];
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
    row.self = remaining_weight(path, node, row);
    if (own.contains(node) && std::abs(own[node] - row.self) > kRounding) {
      row.self = own[node];
    }
  }
  return rows;
}

using AdjacencyLists =
    std::vector<std::vector<Rank>>;  // by node: the nodes that its arrows lead to

// The length of the shortest path from node 0 to each node along the arrows; -1 if there is none.
std::vector<Rank> distances_from_0(const AdjacencyLists& arrows) {
  std::vector<Rank> distances(arrows.size(), -1);
  std::vector<std::size_t> reached{0};
  distances[0] = 0;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (const Rank to : arrows[reached[next]]) {
      Rank& distance = distances[static_cast<std::size_t>(to)];
      if (distance < 0) {
        distance = distances[reached[next]] + 1;
        reached.push_back(static_cast<std::size_t>(to));
      }
    }
  }
  return distances;
}

// Returns text that says that the graph is periodic: the lengths of all closed walks have a common
// divisor above 1, so that values only circulate.  Empty if it is aperiodic.  Throws UsageError if
// some node does not reach another, since averages then never reach one mean.
std::string periodicity_text(const std::string& path, const std::map<Rank, MixingRow>& rows,
                             Rank nodes) {
  const EdgeListTopology graph(rows);
  AdjacencyLists receivers(static_cast<std::size_t>(nodes)), senders(receivers.size());
  const auto add = [&](Rank from, Rank to, double weight) {
    if (weight > 0) {
      receivers[static_cast<std::size_t>(from)].push_back(to);
      senders[static_cast<std::size_t>(to)].push_back(from);
    }
  };
  for (Rank node = 0; node < nodes; ++node) {
    const MixingRow mixing = graph.mixing(node, 0);
    add(node, node, mixing.self);
    for (const auto& [from, weight] : mixing.from) {
      add(from, node, weight);
    }
  }
  const std::vector<Rank> away = distances_from_0(receivers), back = distances_from_0(senders);
  const auto not_reached = std::ranges::find(away, -1) - away.begin();
  const auto reaches_nobody = std::ranges::find(back, -1) - back.begin();
  if (not_reached < nodes || reaches_nobody < nodes) {
    throw UsageError(fmt::format(
        "topology 'edges:{}': {} ranks are not connected by its edges: nothing of rank {} reaches "
        "rank {}",
        path, nodes, not_reached < nodes ? 0 : reaches_nobody,
        not_reached < nodes ? not_reached : 0));
  }
  Rank cycle = 0;
  for (std::size_t from = 0; from < receivers.size(); ++from) {
    for (const Rank to : receivers[from]) {
      cycle = std::gcd(cycle, away[from] + 1 - away[static_cast<std::size_t>(to)]);
    }
  }
  return cycle == 1 ? ""
                    : fmt::format(
                          "values only go round over 'edges:{}': no rank keeps a share of its own, "
                          "and each value is back after a multiple of {} steps, so ranks never "
                          "agree; give a rank a weight of its own, a line like '0 0 0.5'",
                          path, cycle);
}

}  // namespace

TopologyFactory make_edges(const std::string& path) {
  const auto edges = edges_in(path);
  const auto rows = rows_of(path, edges);
  const EdgeLine last = *std::ranges::max_element(edges, {}, &EdgeLine::larger);
  const Rank largest = last.larger();
  const std::string uneven = imbalance_text_of(matrix_of(EdgeListTopology(rows), largest + 1, 0));
  return [rows, largest, line = last.line, path, uneven](const GraphNodes& nodes) {
    if (largest >= nodes.count) {
      throw UsageError(
          fmt::format("{}, line {}: an edge of rank {}; here are {} ranks, counted from 0", path,
                      line, largest, nodes.count));
    }
    return std::make_unique<EdgeListTopology>(rows, uneven,
                                              periodicity_text(path, rows, nodes.count));
  };
}

}  // namespace paceline::strategies
