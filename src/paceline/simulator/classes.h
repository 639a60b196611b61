// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
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
  plan::Symmetry block_symmetry{};  // the symmetry whose movable ranks are permuted
};

/// Returns the orbits of the ranks on `hosts`, which must have all ranks of the job.
Orbits orbits_of(const plan::Symmetry& symmetry, const plan::RanksPerHost& hosts);

/// Classes of ranks with the same behavior.  One rank of a class is simulated for all of its ranks.
///
/// Hosts have classes too: ranks of one class are on hosts of one class, and all hosts of a class
/// have the same number of ranks of each rank class.
struct Classes {
  std::vector<plan::Rank> representative;  // for each rank: the first rank of its class
  std::vector<std::int32_t> host_of;       // for each rank: number of its host
  std::vector<std::int32_t> local;         // for each rank: its local rank
  std::vector<std::int32_t> host_size;     // for each host: number of its ranks
  std::vector<std::int32_t> host_class;    // for each host: number of its class
  std::int32_t host_classes = 0;
  Orbits orbits;  // all ranks of an orbit are in one class

  plan::Rank world() const { return static_cast<plan::Rank>(representative.size()); }
  plan::Rank count() const;  // the number of classes of ranks

  /// Makes the first rank of every orbit the representative of the orbit, and gives each host a
  /// class according to the ranks that it has.
  void set_representatives();
};

/// Makes every rank a class of its own.
Classes unfolded_classes(const plan::PlanInput& input);

/// Makes classes of the orbits of the planner's symmetry, Planner::symmetry, under permutations
/// that keep the ranks of every host together.
Classes folded_classes(const plan::Planner& planner, const plan::PlanInput& input);

}  // namespace paceline::simulator
