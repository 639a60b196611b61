// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/strategies/topology.h"

// Makers of the rows of the topology table.  Each function is defined, and its graph described, in
// the file of its family.

namespace paceline::strategies {

using TopologyMaker = TopologyFactory(const std::string& parameter);

TopologyMaker make_exp, make_one_peer_exp, make_symmetric_exp, make_ring, make_full, make_star,
    make_mesh, make_inner_outer_ring, make_inner_outer_exp, make_base, make_random_matching,
    make_edges;

/// Parses `text` as a whole number from `least` to `most`.  Throws UsageError, which names the
/// topology and its parameter.
Rank parameter_number(std::string_view topology, const std::string& text, Rank least,
                      Rank most = 1'000'000'000);

/// `node` modulo `nodes`, in 0 .. nodes - 1 also for a negative `node`.
constexpr Rank wrap(Rank node, Rank nodes) { return (node % nodes + nodes) % nodes; }

}  // namespace paceline::strategies
