// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/ranks_per_host.h"

namespace paceline::simulator {

/// The orbits of ranks under the planner's symmetry, limited to permutations that keep the ranks of
/// every host together.  Ranks of one orbit run the same ops at the same times.
struct Orbits {
  std::vector<plan::Rank> first;  // by rank: the first rank of its orbit

  /// The rank to which `other` moves under a permutation that moves `rank` to the first of its
  /// orbit. nullopt if that is not known.
  std::optional<plan::Rank> permuted_rank(plan::Rank other, plan::Rank rank) const;

  /// The range of ranks that are permuted.  With `ring`, hosts and blocks are rotated as a ring;
  /// otherwise two of them are exchanged and the others stay.
  plan::Rank begin = 0, end = 0;
  bool ring = false;
  plan::Symmetry places{};  // the symmetry whose movable ranks are permuted
};

/// Finds the orbits; `hosts` must have all ranks.
Orbits orbits_of(const plan::Symmetry& symmetry, const plan::RanksPerHost& hosts);

}  // namespace paceline::simulator
