// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// Graphs over which ranks average, as `topology=` names them.
///
///   ring                   both neighbors, 1/3 each
///   exp                    1, 2, 4, ... ranks ahead, equal weights
///   one-peer-exp           2^(t mod ceil(log2 P)) ahead, 1/2: one distance of
///                          exp a step; after ceil(log2 P) steps the exact
///                          mean where P is a power of two
///   inner-outer-exp        on hosts of L > 2 ranks one rank a step sends to
///                          another host, the others inside theirs, 1/2
///
/// exp and one-peer-exp: Ying et al., NeurIPS 2021, arXiv:2110.13363.
inline constexpr std::array<std::string_view, 4> kTopologies{
    "one-peer-exp", "exp", "ring", "inner-outer-exp"};

struct Neighbor {
  Rank rank = 0;
  double weight = 0;
};

/// One rank's row of the mixing matrix in one step:
///   x <- self * x + sum of from[j].weight * (x of from[j].rank).
struct Mixing {
  double self = 1;
  std::vector<Neighbor> from;
  std::vector<Rank> to;  // who receives this rank's x
};

/// After how many steps the graph repeats; 1 where it is static.
Step period_of(std::string_view topology, Rank world, Rank local);

/// The graph of `world` nodes in a step of which only the number modulo the
/// period matters.  `local` is the ranks a host, used by inner-outer-exp.
/// Throws UsageError where the graph does not exist for such a world.
Mixing mixing_of(
    std::string_view topology, Rank world, Rank local, Rank rank, Step step);

/// Whether, in the first step, every two ranks receive from each other with
/// equal weights.
bool is_symmetric(std::string_view topology, Rank world, Rank local);

/// The largest number of ranks that one receives from, over all steps.
std::size_t degree_of(std::string_view topology, Rank world, Rank local);

}  // namespace paceline::strategies
