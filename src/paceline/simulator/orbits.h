// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/ranks_per_host.h"

namespace paceline::simulator {

/// The ranks that may change places when the planner's symmetry moves whole
/// hosts, or blocks inside a host: they do the same things at the same times.
struct Orbits {
  std::vector<plan::Rank> first;  // by rank: the first of its orbit

  /// Where `other` goes when ranks change places so that `rank` goes to the
  /// first of its orbit.  Nothing where that is not known.
  std::optional<plan::Rank> moved(plan::Rank other, plan::Rank rank) const;

  /// The ranks that move; in a ring, or else other hosts and blocks stay.
  plan::Rank begin = 0, end = 0;
  bool ring = false;
};

/// `hosts` hold all ranks.
Orbits orbits_of(const plan::Symmetry& symmetry,
                 const plan::RanksPerHost& hosts);

}  // namespace paceline::simulator
