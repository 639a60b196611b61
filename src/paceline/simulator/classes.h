// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/simulator/orbits.h"

namespace paceline::simulator {

/// Classes of ranks that behave alike: one rank of a class is simulated for all.
///
/// Hosts have classes too: ranks of one class are on hosts of one class, and hosts of one class
/// hold equally many ranks of each class.
struct Classes {
  std::vector<plan::Rank> representative;  // by rank: the first of its class
  std::vector<std::int32_t> host_of;       // by rank
  std::vector<std::int32_t> local;         // by rank: its number on its host
  std::vector<std::int32_t> host_size;     // by host
  std::vector<std::int32_t> host_class;    // by host
  std::int32_t host_classes = 0;
  Orbits orbits;  // of each, all are in one class

  plan::Rank world() const { return static_cast<plan::Rank>(representative.size()); }
  plan::Rank count() const;  // of classes

  /// Makes the first rank of every orbit its representative, and gives each host the class of the
  /// ranks that it holds.
  void follow_orbits();
};

/// Every rank is a class of its own.
Classes unfolded(const plan::PlanInput& input);

/// The orbits of the planner's symmetry, Planner::symmetry, under moves that keep the ranks of
/// every host together.
Classes folded(const plan::Planner& planner, const plan::PlanInput& input);

}  // namespace paceline::simulator
