// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::sim {

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

  plan::Rank world() const { return static_cast<plan::Rank>(stand_in.size()); }
  plan::Rank count() const;  // of classes
};

/// Every rank for itself.
Classes unfolded(const plan::PlanInput& input);

/// What the planner claims, Planner::stand_in, cut by where ranks live.
///
/// Where only collectives are used, ranks differ by the size of their host.
/// Where messages are, links inside and between hosts matter: ranks at the
/// same place on hosts of the same size are alike where the planner says that
/// all ranks are, and otherwise the classes are refined.
Classes folded(const plan::Planner& planner, const plan::PlanInput& input);

/// The coarsest classes not coarser than `start` in which equal ranks have
/// equal plans up to partners of equal class, at equal distance.  Colour
/// refinement: McKay, Congressus Numerantium 30, 1981.  Plans `steps` steps
/// of every rank.
Classes refined(const plan::Planner& planner,
                const plan::PlanInput& input,
                const Classes& start,
                plan::Step steps);

}  // namespace paceline::sim
