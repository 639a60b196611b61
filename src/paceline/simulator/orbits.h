// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/ranks_per_host.h"

namespace paceline::simulator {

/// Which ranks the planner's symmetry permutes, by permutations that keep the ranks of every host
/// together: ranks of one orbit run the same ops at the same times.
struct Orbits {
  std::vector<plan::Rank> first;  // by rank: the first of its orbit

  /// Where a permutation that takes `rank` to the first of its orbit takes
  /// `other`.  Nothing where that is not known.
  std::optional<plan::Rank> moved(plan::Rank other, plan::Rank rank) const;

  /// The ranks that are permuted.  Hosts and blocks are rotated as a ring, or else two of them are
  /// exchanged and the others stay.
  plan::Rank begin = 0, end = 0;
  bool ring = false;
  plan::Symmetry places{};  // whose movable places are permuted
};

/// `hosts` hold all ranks.
Orbits orbits_of(const plan::Symmetry& symmetry, const plan::RanksPerHost& hosts);

}  // namespace paceline::simulator
