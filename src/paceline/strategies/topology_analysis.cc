// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/topology_analysis.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

Matrix zeros(Rank nodes) {
  const auto size = static_cast<std::size_t>(nodes);
  return Matrix(size, std::vector<double>(size, 0.0));
}

std::size_t at_row(Rank node) { return static_cast<std::size_t>(node); }

void add_scaled(std::vector<double>& sum, double weight, const std::vector<double>& row) {
  for (std::size_t j = 0; j < sum.size(); ++j) {
    sum[j] += weight * row[j];
  }
}

/// The mixing matrix of the step multiplied by `matrix`.
Matrix advanced(const Topology& topology, Step step, const Matrix& matrix) {
  const auto nodes = static_cast<Rank>(matrix.size());
  Matrix product = zeros(nodes);
  for (Rank node = 0; node < nodes; ++node) {
    const Mixing mixing = topology.mixing(node, step);
    auto& row = product[at_row(node)];
    add_scaled(row, mixing.self, matrix[at_row(node)]);
    for (const Neighbor& from : mixing.from) {
      add_scaled(row, from.weight, matrix[at_row(from.rank)]);
    }
  }
  return product;
}

Matrix identity(Rank nodes) {
  Matrix matrix = zeros(nodes);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    matrix[i][i] = 1;
  }
  return matrix;
}

class OfRanks final : public Topology {
 public:
  OfRanks(std::unique_ptr<const Topology> hosts, Rank local)
      : hosts_(std::move(hosts)), local_(local) {}

  Step period() const override { return hosts_->period(); }

  Mixing mixing(Rank node, Step step) const override {
    const Mixing host = hosts_->mixing(node / local_, step);
    Mixing mixing;
    mixing.self = host.self / local_;
    for (Rank place = 0; place < local_; ++place) {
      const Rank mine = node - node % local_ + place;
      if (mine != node) {
        mixing.from.push_back({mine, mixing.self});
      }
      for (const Neighbor& from : host.from) {
        mixing.from.push_back({from.rank * local_ + place, from.weight / local_});
      }
    }
    for (const Rank to : host.to) {
      mixing.to.push_back(to * local_ + node % local_);
    }
    return mixing;
  }

  std::string imbalance() const override { return hosts_->imbalance(); }
  std::string recurrence() const override { return hosts_->recurrence(); }

 private:
  std::unique_ptr<const Topology> hosts_;
  Rank local_;
};

}  // namespace

Matrix matrix_of(const Topology& topology, Rank nodes, Step step) {
  return advanced(topology, step, identity(nodes));
}

Matrix product_of(const Topology& topology, Rank nodes, Step steps) {
  Matrix product = identity(nodes);
  for (Step step = 0; step < steps; ++step) {
    product = advanced(topology, step, product);
  }
  return product;
}

double distance_to_mean(const Matrix& matrix) {
  double sum = 0;
  for (const auto& row : matrix) {
    for (const double entry : row) {
      sum += std::pow(entry - 1.0 / static_cast<double>(matrix.size()), 2);
    }
  }
  return std::sqrt(sum);
}

double second_eigenvalue(const Matrix& matrix) {
  const auto size = static_cast<Eigen::Index>(matrix.size());
  if (size < 2) {
    return 0;
  }
  Eigen::MatrixXd dense(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) {
      dense(i, j) = matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
  }
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(dense, false);
  if (solver.info() != Eigen::Success) {
    throw UsageError("the eigenvalues of the mixing matrix do not converge");
  }
  std::vector<double> moduli;
  for (const auto& value : solver.eigenvalues()) {
    moduli.push_back(std::abs(value));
  }
  std::ranges::sort(moduli, std::greater{});
  return moduli[1];
}

std::optional<Step> steps_to_consensus(const Topology& topology, Rank nodes, Step most_steps) {
  constexpr double kExact = 1e-9;
  constexpr double kRounding = 1e-12;  // below this distance, changes are rounding errors
  Matrix product = identity(nodes);
  double before = distance_to_mean(product);
  for (Step step = 0; step < most_steps && before > kRounding; ++step) {
    product = advanced(topology, step, product);
    const double after = distance_to_mean(product);
    if (after <= kExact * before) {
      return step + 1;
    }
    before = after;
  }
  return nodes == 1 ? std::optional<Step>(0) : std::nullopt;
}

std::string imbalance_of(const Matrix& matrix) {
  constexpr double kTolerance = 1e-12;  // for the rounding of sums of doubles
  std::vector<double> columns(matrix.size(), 0.0);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      sum += matrix[i][j];
      columns[j] += matrix[i][j];
    }
    if (std::abs(sum - 1) > kTolerance) {
      return fmt::format("row {0} (what rank {0} takes) sums to {1:.12g}", i, sum);
    }
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (std::abs(columns[j] - 1) > kTolerance) {
      return fmt::format("column {0} (what is taken of rank {0}) sums to {1:.12g}", j, columns[j]);
    }
  }
  return {};
}

TopologyTraffic traffic_of(const Topology& topology, const Nodes& nodes, Step step) {
  TopologyTraffic traffic;
  for (Rank node = 0; node < nodes.count; ++node) {
    const auto to = topology.mixing(node, step).to;
    for (const Rank other : to) {
      traffic.between_hosts += other / nodes.local != node / nodes.local ? 1 : 0;
    }
    traffic.messages += static_cast<int>(to.size());
    traffic.most_sent = std::max(traffic.most_sent, static_cast<int>(to.size()));
  }
  return traffic;
}

std::unique_ptr<const Topology> of_ranks(std::unique_ptr<const Topology> hosts, Rank local) {
  return std::make_unique<OfRanks>(std::move(hosts), local);
}

}  // namespace paceline::strategies
