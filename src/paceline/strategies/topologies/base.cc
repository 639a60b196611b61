// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "paceline/strategies/topologies/rows.h"

// The Base-(k+1) graph gives every node the exact mean after a finite number of steps, for any
// number of nodes, with at most k neighbors per step.  Takezawa et al., NeurIPS 2023,
// arXiv:2305.11420, algorithms 1 to 3.

namespace paceline::strategies {
namespace {

/// Returns the fewest factors, each at most `most`, whose product is `product`, in non-ascending
/// order.
std::optional<std::vector<Rank>> fewest_factors(Rank product, Rank most) {
  if (product == 1) {
    return std::vector<Rank>{};
  }
  std::optional<std::vector<Rank>> best;
  for (Rank first = std::min(most, product); first > 1; --first) {
    if (product % first != 0) {
      continue;
    }
    auto rest = fewest_factors(product / first, first);
    if (rest && (!best || rest->size() + 1 < best->size())) {
      rest->insert(rest->begin(), first);
      best = std::move(rest);
    }
  }
  return best;
}

/// The k-peer hyper-hypercube graph: a node averages with at most k nodes in a step.  `nodes` is a
/// product of factors of at most k + 1.  In step t a node averages with the nodes that differ from
/// it only in digit t.  After as many steps as there are factors, all nodes have the exact mean.
/// Takezawa et al., NeurIPS 2023, arXiv:2305.11420, algorithm 1.
class Hypercube {
 public:
  /// `nodes` must have no prime factor above `base` = k + 1.
  Hypercube(Rank nodes, Rank base) : factors_(*fewest_factors(nodes, base)) {}

  Step steps() const { return static_cast<Step>(factors_.size()); }

  /// The other nodes of the group of `node` in step `step`, from 0 to steps() - 1.
  std::vector<Rank> others(Rank node, Step step) const {
    Rank stride = 1;
    for (Step t = 0; t < step; ++t) {
      stride *= factors_[static_cast<std::size_t>(t)];
    }
    const Rank factor = factors_[static_cast<std::size_t>(step)];
    const Rank digit = node / stride % factor;
    std::vector<Rank> others;
    for (Rank other = 0; other < factor; ++other) {
      if (other != digit) {
        others.push_back(node + (other - digit) * stride);
      }
    }
    return others;
  }

 private:
  std::vector<Rank> factors_;
};

/// The row of a node that averages with `others`, each with the same weight in both directions.
MixingRow symmetric_row(const std::vector<Rank>& others, double weight) {
  MixingRow mixing;
  mixing.self = 1 - static_cast<double>(others.size()) * weight;
  for (const Rank other : others) {
    mixing.from.push_back({other, weight});
  }
  mixing.to = others;
  return mixing;
}

/// The row of a node of the cube whose first node has the number `offset`; without neighbors in a
/// step that the cube does not have.
MixingRow average_row(const Hypercube& cube, Rank node, Step step, Rank offset = 0) {
  if (step < 0 || step >= cube.steps()) {
    return {};
  }
  const auto others = cube.others(node, step);
  return renumbered(symmetric_row(others, 1.0 / static_cast<double>(others.size() + 1)),
                    [&](Rank other) { return other + offset; });
}

/// The simple Base-(k+1) graph.  The digits of the number of nodes in base k+1 divide the nodes
/// into parts; each part has `digit` blocks, whose size is a power of the base.
///
///   1. The nodes of every part average to the part's mean.
///   2. One part after the other exchanges with all parts after it, so that the mean of
///      each of its blocks becomes that of all nodes.
///   3. The nodes of every block average to the block's mean, while later parts exchange.
class SimpleBase {
 public:
  SimpleBase(Rank nodes, Rank base) {
    Rank power = 1;
    while (power <= nodes / base) {
      power *= base;
    }
    for (Rank begin = 0; begin < nodes; power /= base) {
      const Rank digit = (nodes - begin) / power;
      if (digit > 0) {
        parts_.push_back({.begin = begin,
                          .block = power,
                          .blocks = digit,
                          .left = nodes - begin,
                          .all = Hypercube(digit * power, base),
                          .one = Hypercube(power, base)});
        begin += digit * power;
      }
    }
  }

  Step steps() const {
    return parts_.front().all.steps() + (parts_.size() == 1 ? 0 : 1 + parts_.front().one.steps());
  }

  MixingRow mixing(Rank node, Step step) const {
    std::size_t mine = parts_.size() - 1;
    while (parts_[mine].begin > node) {
      --mine;
    }
    const Part& part = parts_[mine];
    const Rank place = node - part.begin;
    const Step exchange = step - parts_.front().all.steps();
    if (exchange < 0) {
      return average_row(part.all, place, step, part.begin);
    }
    const auto giver = static_cast<std::size_t>(exchange);
    if (giver + 1 < parts_.size() && giver <= mine) {
      return exchange_row(parts_[giver], node);
    }
    if (mine + 1 == parts_.size()) {
      return {};  // the nodes of the last part have the mean once all others have sent to them
    }
    const Step done = exchange - static_cast<Step>(mine) - 1;
    const Rank in_block = place % part.block;
    return average_row(part.one, in_block, done, node - in_block);
  }

 private:
  struct Part {
    Rank begin = 0;
    Rank block = 1;   // nodes per block
    Rank blocks = 1;  // number of blocks: a digit of the number of nodes
    Rank left = 0;    // number of nodes from `begin` on
    Hypercube all;    // averages over the nodes of the part
    Hypercube one;    // averages over the nodes of a block
  };

  /// Returns the mixing row of a node in the step in which part `giver` exchanges with all parts
  /// after it: the i-th node after the part averages with the i-th node of each of the part's
  /// blocks.
  static MixingRow exchange_row(const Part& giver, Rank node) {
    const double weight = static_cast<double>(giver.block) / static_cast<double>(giver.left);
    const Rank tail = giver.begin + giver.blocks * giver.block;
    if (node < tail) {
      const Rank partner = tail + (node - giver.begin) % giver.block;
      return partner < giver.begin + giver.left ? symmetric_row({partner}, weight) : MixingRow{};
    }
    std::vector<Rank> others;
    for (Rank block = 0; block < giver.blocks; ++block) {
      others.push_back(giver.begin + block * giver.block + node - tail);
    }
    return symmetric_row(others, weight);
  }

  std::vector<Part> parts_;
};

/// The largest divisor of `nodes` that has no prime factor above `base`.
Rank smooth_part(Rank nodes, Rank base) {
  Rank part = 1;
  for (Rank factor = 2; factor <= base; ++factor) {
    for (; nodes % factor == 0; nodes /= factor) {
      part *= factor;
    }
  }
  return part;
}

/// Divides the nodes into equal groups of `group` nodes.  First the nodes of each group average by
/// a simple graph; then the nodes with the same index in all groups average by a hyper-hypercube.
class Base final : public Topology {
 public:
  Base(Rank group, SimpleBase inside, Hypercube across)
      : group_(group), inside_(std::move(inside)), across_(std::move(across)) {}

  Step period() const override { return inside_.steps() + across_.steps(); }

  MixingRow mixing(Rank node, Step step) const override {
    step %= period();
    const Rank place = node % group_;
    if (step >= inside_.steps()) {
      return renumbered(average_row(across_, node / group_, step - inside_.steps()),
                        [&](Rank group) { return group * group_ + place; });
    }
    return renumbered(inside_.mixing(place, step),
                      [&](Rank other) { return node - place + other; });
  }

 private:
  Rank group_;
  SimpleBase inside_;
  Hypercube across_;
};

/// Returns the graph with the shorter period, of the two graphs of the paper.
std::unique_ptr<const Topology> shortest_graph(Rank nodes, Rank base) {
  const Rank groups = smooth_part(nodes, base);
  Base groups_of_sizes(nodes / groups, SimpleBase(nodes / groups, base), Hypercube(groups, base));
  Base simple(nodes, SimpleBase(nodes, base), Hypercube(1, base));
  return std::make_unique<Base>(groups_of_sizes.period() < simple.period() ? groups_of_sizes
                                                                           : simple);
}

}  // namespace

TopologyFactory make_base(const std::string& base) {
  return [by = parameter_number("base", base, 2, 64)](const GraphNodes& nodes) {
    return shortest_graph(nodes.count, by);
  };
}

}  // namespace paceline::strategies
