// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/strategies/topology.h"

// What the rows of the topology table make.  Each function is defined in the file of its family;
// what the graph is, is said there.

namespace paceline::strategies {

MakeTopology make_exp(const std::string& base);
MakeTopology make_one_peer_exp(const std::string& base);
MakeTopology make_symmetric_exp(const std::string& base);
MakeTopology make_ring(const std::string& direction);
MakeTopology make_full(const std::string& none);
MakeTopology make_star(const std::string& center);
MakeTopology make_mesh(const std::string& shape);
MakeTopology make_inner_outer_ring(const std::string& none);
MakeTopology make_inner_outer_exp(const std::string& none);
MakeTopology make_base(const std::string& base);
MakeTopology make_random_matching(const std::string& seed);
MakeTopology make_edges(const std::string& path);

/// `text` as a whole number from `least` to `most`.  Throws UsageError, which
/// names the topology and what its parameter is.
Rank parameter_number(std::string_view topology, const std::string& text, Rank least,
                      Rank most = 1'000'000'000);

/// The node, counted around the end.
constexpr Rank wrap(Rank node, Rank nodes) { return (node % nodes + nodes) % nodes; }

}  // namespace paceline::strategies
