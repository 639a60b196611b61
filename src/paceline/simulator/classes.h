// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/simulator/orbits.h"

namespace paceline::simulator {

class Scripts;  // simulator/script.h

/// Which ranks behave alike, so that one is simulated for all of them.
///
/// Hosts are classed with them: ranks of one class live on hosts of one class,
/// and hosts of one class hold equally many ranks of each class.
struct Classes {
  std::vector<plan::Rank> stand_in;      // by rank: the first of its class
  std::vector<std::int32_t> host_of;     // by rank
  std::vector<std::int32_t> local;       // by rank: its number on its host
  std::vector<std::int32_t> host_size;   // by host
  std::vector<std::int32_t> host_class;  // by host
  std::int32_t host_classes = 0;
  Orbits orbits;  // of each, all are in one class

  plan::Rank world() const { return static_cast<plan::Rank>(stand_in.size()); }
  plan::Rank count() const;  // of classes

  /// Gives each rank the stand-in of its orbit's first, then hosts the class
  /// of the ranks that they hold.
  void follow_orbits();
};

/// Every rank for itself.
Classes unfolded(const plan::PlanInput& input);

/// The orbits of the planner's symmetry, Planner::symmetry, where hosts keep
/// their ranks together, joined by refined() where these are few.
Classes folded(const plan::Planner& planner, const plan::PlanInput& input);

/// The coarsest classes in which equal ranks have equal plans up to partners of
/// equal class, at equal distance.  Colour refinement: McKay, Congressus
/// Numerantium 30, 1981.  Plans the steps of the first of each orbit.
Classes refined(Scripts& scripts, const Classes& start);

}  // namespace paceline::simulator
