// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <Eigen/Core>

#include "paceline/strategies/topology.h"

namespace paceline::strategies {

/// A mixing matrix: matrix(i, j) is the weight that node i gives to the value it receives from node
/// j.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrix_of(const Topology& topology, Rank nodes, Step step);

/// The product of the matrices of the first `steps` steps: row i has the weights of all initial
/// values in the value of node i after these steps.
Matrix product_of(const Topology& topology, Rank nodes, Step steps);

/// The Frobenius distance of a matrix from the one whose entries are all 1 / nodes, which gives
/// every node the mean.
double distance_to_mean(const Matrix& matrix);

/// The second largest modulus of the eigenvalues of `matrix`: the asymptotic factor by which each
/// repetition shrinks the distance to the mean.
double second_eigenvalue(const Matrix& matrix);

/// The smallest number of steps, counted from step 0, after which all nodes have the mean except
/// for rounding errors. It is recognized by the last of these steps, in which the distance to the
/// mean shrinks by more than a factor of 1e9. nullopt if that happens in none of `most_steps`
/// steps.
std::optional<Step> steps_to_consensus(const Topology& topology, Rank nodes, Step most_steps);

/// Describes the first row or column that does not sum to 1 within 1e-12, with its sum; empty if
/// all do.
std::string imbalance_text_of(const Matrix& matrix);

/// How many messages the nodes of a graph send in one step.
struct TopologyTraffic {
  int messages = 0;       // sent by all nodes together
  int between_hosts = 0;  // messages to a node on another host
  int most_sent = 0;      // the largest number sent by one node
};

TopologyTraffic traffic_of(const Topology& topology, const GraphNodes& nodes, Step step);

/// The graph of ranks that is equivalent to hierarchical averaging: `hosts` is a graph of hosts
/// with `local` ranks each, and every rank holds the mean of its host.
std::unique_ptr<const Topology> rank_topology_of(std::unique_ptr<const Topology> hosts, Rank local);

}  // namespace paceline::strategies
