// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/topologies/rows.h"

namespace paceline::strategies {
namespace {

/// A grid without wrap-around, in which nodes are numbered row by row.  The weights are those of
/// Metropolis-Hastings: w_ij = 1 / max(|N_i|, |N_j|), where N_i includes node i itself.
class Mesh final : public Topology {
 public:
  Mesh(Rank rows, Rank columns) : rows_(rows), columns_(columns) {}

  MixingRow mixing(Rank node, Step) const override {
    MixingRow mixing;
    const auto mine = neighbors(node);
    for (const Rank other : mine) {
      const double weight =
          1.0 / static_cast<double>(std::max(mine.size(), neighbors(other).size()) + 1);
      mixing.self -= weight;
      mixing.from.push_back({other, weight});
      mixing.to.push_back(other);
    }
    return mixing;
  }

 private:
  std::vector<Rank> neighbors(Rank node) const {
    const Rank row = node / columns_, column = node % columns_;
    std::vector<Rank> found;
    if (row > 0) {
      found.push_back(node - columns_);
    }
    if (column > 0) {
      found.push_back(node - 1);
    }
    if (column + 1 < columns_) {
      found.push_back(node + 1);
    }
    if (row + 1 < rows_) {
      found.push_back(node + columns_);
    }
    return found;
  }

  Rank rows_;
  Rank columns_;
};

/// The largest divisor of `nodes` that is not above the square root.
Rank rows_of_square(Rank nodes) {
  auto rows = static_cast<Rank>(std::sqrt(static_cast<double>(nodes)));
  while (nodes % rows != 0) {
    --rows;
  }
  return rows;
}

}  // namespace

TopologyFactory make_mesh(const std::string& shape) {
  if (shape == "auto") {
    return [](const GraphNodes& nodes) {
      const Rank rows = rows_of_square(nodes.count);
      return std::make_unique<Mesh>(rows, nodes.count / rows);
    };
  }
  const std::size_t by = shape.find('x');
  if (by == std::string::npos) {
    throw UsageError(fmt::format("topology 'mesh:{}': wants ROWSxCOLUMNS, as in mesh:2x4", shape));
  }
  const Rank rows = parameter_number("mesh", shape.substr(0, by), 1, 32768);
  const Rank columns = parameter_number("mesh", shape.substr(by + 1), 1, 32768);
  return [rows, columns](const GraphNodes& nodes) {
    if (rows * columns != nodes.count) {
      throw UsageError(fmt::format(
          "topology 'mesh:{0}x{1}': a mesh of {0} rows and {1} columns has {2} nodes; here are {3}",
          rows, columns, rows * columns, nodes.count));
    }
    return std::make_unique<Mesh>(rows, columns);
  };
}

}  // namespace paceline::strategies
