// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/topologies/rows.h"

namespace paceline::strategies {
namespace {

class Star final : public Topology {
 public:
  Star(Rank nodes, Rank center) : nodes_(nodes), center_(center) {}

  MixingRow mixing(Rank node, Step) const override {
    const double weight = 1.0 / nodes_;
    if (node != center_) {
      return {.self = 1 - weight, .from = {{center_, weight}}, .to = {center_}};
    }
    MixingRow mixing;
    mixing.self = weight;
    for (Rank leaf = 0; leaf < nodes_; ++leaf) {
      if (leaf != center_) {
        mixing.from.push_back({leaf, weight});
        mixing.to.push_back(leaf);
      }
    }
    return mixing;
  }

 private:
  Rank nodes_;
  Rank center_;
};

}  // namespace

TopologyFactory make_star(const std::string& center) {
  return [at = parameter_number("star", center, 0)](const GraphNodes& nodes) {
    if (at >= nodes.count) {
      throw UsageError(
          fmt::format("topology 'star:{}': there are {} nodes, counted from 0", at, nodes.count));
    }
    return std::make_unique<Star>(nodes.count, at);
  };
}

}  // namespace paceline::strategies
