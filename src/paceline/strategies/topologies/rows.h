// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/strategies/topology.h"

// Makers of the rows of the topology table.  Each function is defined, and its graph described, in
// the file of its family.

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

/// Parses `text` as a whole number from `least` to `most`.  Throws UsageError, which names the
/// topology and its parameter.
Rank parameter_number(std::string_view topology, const std::string& text, Rank least,
                      Rank most = 1'000'000'000);

/// `node` modulo `nodes`, in 0 .. nodes - 1 also for a negative `node`.
constexpr Rank wrap(Rank node, Rank nodes) { return (node % nodes + nodes) % nodes; }

}  // namespace paceline::strategies
