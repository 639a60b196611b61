// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "paceline/base/random.h"
#include "paceline/strategies/topologies/rows.h"

namespace paceline::strategies {
namespace {

constexpr Step kMatchings = 64;

/// Pairs the nodes at random in each step; if their number is odd, one stays alone.  The
/// probability that the 64 matchings leave some parts unconnected is at most 3^-63 (three or four
/// nodes), so seeds are not checked.
class RandomMatching final : public Topology {
 public:
  RandomMatching(Rank nodes, Rank seed) : nodes_(nodes), seed_(seed) {}

  Step period() const override { return kMatchings; }

  MixingRow mixing(Rank node, Step step) const override {
    std::vector<Rank> order(static_cast<std::size_t>(nodes_));
    std::iota(order.begin(), order.end(), 0);
    Random random(static_cast<std::uint64_t>(seed_), static_cast<std::uint64_t>(step % kMatchings));
    shuffle(std::span(order), random);
    const auto place = static_cast<std::size_t>(std::ranges::find(order, node) - order.begin());
    const std::size_t other = place ^ 1U;
    if (other >= order.size()) {
      return {};
    }
    return {.self = 0.5, .from = {{order[other], 0.5}}, .to = {order[other]}};
  }

  std::size_t degree(Rank) const override { return 1; }

 private:
  Rank nodes_;
  Rank seed_;
};

}  // namespace

TopologyFactory make_random_matching(const std::string& seed) {
  return [by = parameter_number("random-matching", seed, 0)](const GraphNodes& nodes) {
    return std::make_unique<RandomMatching>(nodes.count, by);
  };
}

}  // namespace paceline::strategies
