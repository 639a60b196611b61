// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/topology_analysis.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

/// Returns the mixing matrix of the step, multiplied by `matrix`.
Matrix after_mixing_step(const Topology& topology, Step step, const Matrix& matrix) {
  Matrix product(matrix.rows(), matrix.cols());
  for (Eigen::Index node = 0; node < matrix.rows(); ++node) {
    const MixingRow mixing = topology.mixing(static_cast<Rank>(node), step);
    product.row(node) = mixing.self * matrix.row(node);
    for (const Neighbor& from : mixing.from) {
      product.row(node) += from.weight * matrix.row(from.rank);
    }
  }
  return product;
}

Matrix identity(Rank nodes) { return Matrix::Identity(nodes, nodes); }

class RankTopology final : public Topology {
 public:
  RankTopology(std::unique_ptr<const Topology> hosts, Rank local)
      : hosts_(std::move(hosts)), ranks_per_host_(local) {}

  Step period() const override { return hosts_->period(); }

  MixingRow mixing(Rank node, Step step) const override {
    const MixingRow host = hosts_->mixing(node / ranks_per_host_, step);
    MixingRow mixing;
    mixing.self = host.self / ranks_per_host_;
    for (Rank place = 0; place < ranks_per_host_; ++place) {
      const Rank mine = node - node % ranks_per_host_ + place;
      if (mine != node) {
        mixing.from.push_back({mine, mixing.self});
      }
      for (const Neighbor& from : host.from) {
        mixing.from.push_back({from.rank * ranks_per_host_ + place, from.weight / ranks_per_host_});
      }
    }
    for (const Rank to : host.to) {
      mixing.to.push_back(to * ranks_per_host_ + node % ranks_per_host_);
    }
    return mixing;
  }

  std::string imbalance_text() const override { return hosts_->imbalance_text(); }
  std::string recurrence_text() const override { return hosts_->recurrence_text(); }

 private:
  std::unique_ptr<const Topology> hosts_;
  Rank ranks_per_host_;
};

}  // namespace

Matrix matrix_of(const Topology& topology, Rank nodes, Step step) {
  return after_mixing_step(topology, step, identity(nodes));
}

Matrix product_of(const Topology& topology, Rank nodes, Step steps) {
  Matrix product = identity(nodes);
  for (Step step = 0; step < steps; ++step) {
    product = after_mixing_step(topology, step, product);
  }
  return product;
}

double distance_to_mean(const Matrix& matrix) {
  return (matrix.array() - 1.0 / static_cast<double>(matrix.rows())).matrix().norm();
}

double second_eigenvalue(const Matrix& matrix) {
  if (matrix.rows() < 2) {
    return 0;
  }
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(matrix, false);
  if (solver.info() != Eigen::Success) {
    throw UsageError("the eigenvalues of the mixing matrix do not converge");
  }
  Eigen::VectorXd moduli = solver.eigenvalues().cwiseAbs();
  std::ranges::sort(moduli, std::greater{});
  return moduli[1];
}

std::optional<Step> steps_to_consensus(const Topology& topology, Rank nodes, Step most_steps) {
  constexpr double kExact = 1e-9;
  constexpr double kRounding = 1e-12;  // below this distance, changes are rounding errors
  Matrix product = identity(nodes);
  double before = distance_to_mean(product);
  for (Step step = 0; step < most_steps && before > kRounding; ++step) {
    product = after_mixing_step(topology, step, product);
    const double after = distance_to_mean(product);
    if (after <= kExact * before) {
      return step + 1;
    }
    before = after;
  }
  return nodes == 1 ? std::optional<Step>(0) : std::nullopt;
}

std::string imbalance_text_of(const Matrix& matrix) {
  constexpr double kTolerance = 1e-12;  // for the rounding of sums of doubles
  const Eigen::VectorXd rows = matrix.rowwise().sum(), columns = matrix.colwise().sum();
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    if (std::abs(rows[i] - 1) > kTolerance) {
      return fmt::format("row {0} (what rank {0} takes) sums to {1:.12g}", i, rows[i]);
    }
  }
  for (Eigen::Index j = 0; j < columns.size(); ++j) {
    if (std::abs(columns[j] - 1) > kTolerance) {
      return fmt::format("column {0} (what is taken of rank {0}) sums to {1:.12g}", j, columns[j]);
    }
  }
  return {};
}

TopologyTraffic traffic_of(const Topology& topology, const GraphNodes& nodes, Step step) {
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

std::unique_ptr<const Topology> rank_topology_of(std::unique_ptr<const Topology> hosts,
                                                 Rank local) {
  return std::make_unique<RankTopology>(std::move(hosts), local);
}

}  // namespace paceline::strategies
