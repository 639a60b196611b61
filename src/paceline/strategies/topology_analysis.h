// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/strategies/topology.h"

namespace paceline::strategies {

/// matrix[i][j]: the weight that node i gives to what it receives from node j.
using Matrix = std::vector<std::vector<double>>;

Matrix matrix_of(const Topology& topology, Rank nodes, Step step);

/// What the first steps do, one after the other, to the identity: row i holds the weights that node
/// i's value then has of the nodes' first values.
Matrix product_of(const Topology& topology, Rank nodes, Step steps);

/// How far a matrix is from the one that gives everybody the mean (Frobenius).
double distance_to_mean(const Matrix& matrix);

/// The modulus of the eigenvalue of `matrix` that is second in modulus: that by which repetition
/// shrinks the distance to the mean in the end.
double second_eigenvalue(const Matrix& matrix);

/// The first number of steps, from step 0 on, after which all nodes have the exact mean: rounding
/// aside, in that the distance to it shrinks by more than a factor of 1e9 in one step.  Nothing
/// where that happens in none of
/// `most_steps`.
std::optional<Step> steps_to_consensus(const Topology& topology, Rank nodes, Step most_steps);

/// The first row or column that does not sum to 1, with its sum; empty where all do, to 1e-12.
std::string imbalance_of(const Matrix& matrix);

/// The messages of one step.
struct TopologyTraffic {
  int messages = 0;       // of all nodes
  int between_hosts = 0;  // of these, to a node on another host
  int most_sent = 0;      // by one node
};

TopologyTraffic traffic_of(const Topology& topology, const Nodes& nodes, Step step);

/// The graph of ranks that hierarchical averaging amounts to: `hosts` is a graph of hosts of
/// `local` ranks, of which each holds the host's mean.
std::unique_ptr<const Topology> of_ranks(std::unique_ptr<const Topology> hosts, Rank local);

}  // namespace paceline::strategies
