// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/strategies/topologies/rows.h"

// The table of topologies, in the order in which `paceline list topologies` prints them.
namespace paceline::strategies {
namespace {

constexpr auto kTopologyRows = std::to_array<TopologyRow>({
    {.name = "one-peer-exp",
     .parameter = "BASE",
     .fallback = "2",
     .summary = "one node a step, 1, 2, 4, ... ahead in turn, weight 1/2; exact "
                "after log2 P steps where P is a power of two",
     .paper = "Ying et al., NeurIPS 2021, arXiv:2110.13363",
     .make = make_one_peer_exp},
    {.name = "exp",
     .parameter = "BASE",
     .fallback = "2",
     .summary = "all nodes 1, 2, 4, ... ahead, equal weights",
     .paper = "Ying et al., NeurIPS 2021, arXiv:2110.13363",
     .make = make_exp},
    {.name = "symmetric-exp",
     .parameter = "BASE",
     .fallback = "4",
     .summary = "all nodes 1, 4, 16, ... away on both sides, equal weights",
     .paper = "BlueFog, 2021, arXiv:2111.04287",
     .make = make_symmetric_exp},
    {.name = "ring",
     .parameter = "both|left|right",
     .fallback = "both",
     .summary = "both neighbors, 1/3 each; left, right: to one of them, 1/2",
     .paper = "Lian et al., NeurIPS 2017, arXiv:1705.09056",
     .make = make_ring},
    {.name = "star",
     .parameter = "CENTER",
     .fallback = "0",
     .summary = "everybody with one node, weight 1/P",
     .paper = "BlueFog, 2021, arXiv:2111.04287",
     .make = make_star},
    {.name = "mesh",
     .parameter = "ROWSxCOLUMNS",
     .fallback = "auto",
     .summary =
         "the up to four neighbors in a grid as square as P allows, Metropolis-Hastings weights",
     .paper = "Xiao and Boyd, Systems & Control Letters 2004",
     .make = make_mesh},
    {.name = "full",
     .summary = "everybody with everybody, 1/P: the exact mean each step",
     .make = make_full},
    {.name = "inner-outer-ring",
     .summary = "one rank a step of each host to the next host, the others to the next rank "
                "inside, 1/2; three or more ranks a host",
     .paper = "BlueFog, 2021, arXiv:2111.04287",
     .make = make_inner_outer_ring},
    {.name = "inner-outer-exp",
     .summary = "the same, 1, 2, 4, ... hosts and ranks ahead in turn",
     .paper = "BlueFog, 2021, arXiv:2111.04287",
     .make = make_inner_outer_exp},
    {.name = "base",
     .parameter = "BASE",
     .fallback = "2",
     .summary = "Base-(k+1) graph with BASE = k+1: at most k nodes a step, exact after a finite "
                "number of steps for any P",
     .paper = "Takezawa et al., NeurIPS 2023, arXiv:2305.11420",
     .make = make_base},
    {.name = "random-matching",
     .parameter = "SEED",
     .fallback = "0",
     .summary = "pairs drawn anew each step, 1/2; repeats after 64 steps",
     .paper = "Boyd et al., IEEE Trans. Inf. Theory 2006",
     .make = make_random_matching},
    {.name = "edges",
     .parameter = "FILE",
     .summary = "the edges of a file: a line FROM TO [WEIGHT] each",
     .make = make_edges},
});

const TopologyRow& row_named(std::string_view name) {
  const auto row = std::ranges::find(kTopologyRows, name, &TopologyRow::name);
  if (row != kTopologyRows.end()) {
    return *row;
  }
  std::vector<std::string_view> known;
  for (const TopologyRow& each : kTopologyRows) {
    known.push_back(each.name);
  }
  throw UsageError(fmt::format("topology: '{}' is none of: {}", name, fmt::join(known, ", ")));
}

class NoEdges final : public Topology {
 public:
  MixingRow mixing(Rank, Step) const override { return {}; }
};

class PushSumWeights final : public Topology {
 public:
  explicit PushSumWeights(std::unique_ptr<const Topology> graph) : graph_(std::move(graph)) {}

  Step period() const override { return graph_->period(); }

  MixingRow mixing(Rank node, Step step) const override {
    MixingRow row = graph_->mixing(node, step);
    row.self = share(row);
    for (Neighbor& from : row.from) {
      from.weight = share(graph_->mixing(from.rank, step));
    }
    return row;
  }

  std::size_t degree(Rank node) const override { return graph_->degree(node); }

 private:
  static double share(const MixingRow& row) { return 1.0 / static_cast<double>(row.to.size() + 1); }

  std::unique_ptr<const Topology> graph_;
};

}  // namespace

std::unique_ptr<const Topology> with_push_sum_weights(std::unique_ptr<const Topology> graph) {
  return std::make_unique<PushSumWeights>(std::move(graph));
}

MixingRow renumbered(MixingRow row, const std::function<Rank(Rank)>& renumber) {
  for (Neighbor& from : row.from) {
    from.rank = renumber(from.rank);
  }
  std::ranges::transform(row.to, row.to.begin(), renumber);
  return row;
}

std::span<const TopologyRow> topologies() { return kTopologyRows; }

std::size_t Topology::degree(Rank node) const {
  std::size_t most = 0;
  for (Step step = 0; step < period(); ++step) {
    most = std::max(most, mixing(node, step).from.size());
  }
  return most;
}

std::size_t largest_degree(const Topology& topology, Rank nodes) {
  if (topology.block() == 1) {
    return topology.degree(0);
  }
  std::size_t most = 0;
  for (Rank node = 0; node < nodes; ++node) {
    most = std::max(most, topology.degree(node));
  }
  return most;
}

namespace {

/// Returns both numbers as text with six digits, or with all digits if the six are equal.
std::pair<std::string, std::string> distinct_texts(double one, double other) {
  std::pair texts{fmt::format("{:.6g}", one), fmt::format("{:.6g}", other)};
  return texts.first != texts.second ? texts
                                     : std::pair{fmt::format("{}", one), fmt::format("{}", other)};
}

}  // namespace

std::string asymmetry_text_of(const Topology& topology, Rank nodes, Step step) {
  std::vector<std::map<Rank, double>> rows(static_cast<std::size_t>(nodes));
  for (Rank node = 0; node < nodes; ++node) {
    for (const Neighbor& from : topology.mixing(node, step).from) {
      rows[static_cast<std::size_t>(node)][from.rank] += from.weight;
    }
  }
  for (Rank node = 0; node < nodes; ++node) {
    for (const auto& [from, weight] : rows[static_cast<std::size_t>(node)]) {
      const auto& back = rows[static_cast<std::size_t>(from)];
      const auto found = back.find(node);
      const double other = found == back.end() ? 0 : found->second;
      if (other != weight) {
        const auto [mine, theirs] = distinct_texts(weight, other);
        return fmt::format(
            "row {0}, column {1} of the mixing matrix is {2}, and row {1}, column {0} is {3}", node,
            from, mine, theirs);
      }
    }
  }
  return "";
}

TopologyChoice::TopologyChoice(std::string_view text) {
  const std::size_t colon = text.find(':');
  const TopologyRow& row = row_named(text.substr(0, colon));
  std::string parameter(row.fallback);
  if (colon != std::string_view::npos) {
    if (row.parameter.empty()) {
      throw UsageError(fmt::format("topology '{}': '{}' takes no parameter", text, row.name));
    }
    parameter = text.substr(colon + 1);
  }
  if (parameter.empty() && !row.parameter.empty()) {
    throw UsageError(fmt::format("topology '{}': {}:{} is wanted", text, row.name, row.parameter));
  }
  make_ = row.make(parameter);
  text_ =
      parameter == row.fallback ? std::string(row.name) : fmt::format("{}:{}", row.name, parameter);
}

std::unique_ptr<const Topology> TopologyChoice::on(const GraphNodes& nodes) const {
  if (nodes.count < 2) {
    return std::make_unique<NoEdges>();
  }
  return make_(nodes);
}

Rank parameter_number(std::string_view topology, const std::string& text, Rank least, Rank most) {
  const auto value = number_from<Rank>(text);
  if (!value || *value < least || *value > most) {
    throw UsageError(fmt::format("topology '{0}:{1}': {2} is a whole number from {3} to {4}",
                                 topology, text, row_named(topology).parameter, least, most));
  }
  return *value;
}

}  // namespace paceline::strategies
