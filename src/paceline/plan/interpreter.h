// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/plan_world.h"

namespace paceline::plan {

/// What the ops of a plan do to the memory of all ranks.
class Machine {
 public:
  virtual ~Machine() = default;

  virtual void forward(Rank rank, Step step, const Forward& work) = 0;
  virtual void backward(Rank rank, Step step, const Backward& work) = 0;
  virtual void kernel(Rank rank, Step step, const Kernel& work) = 0;

  /// `parts[i]` is the op of the communicator's i-th member.
  virtual void collective(const Communicator& on, const std::vector<const Collective*>& parts) = 0;

  /// Keeps a copy of what is sent under `message`; each is received once.
  virtual void send(Rank from, const Slice& slice, std::size_t message) = 0;
  virtual void receive(Rank to, const Slice& slice, std::size_t message) = 0;
};

/// Runs `steps` steps of all ranks one op after the other: what a plan *means*.
///
/// Every rank takes its ops in program order.  A collective runs when all its members have come to
/// it; a send deposits its value and goes on; a receive waits for its deposit.  Throws PlanError,
/// with the chain of ops that wait for each other, where no rank can go on.
void interpret(const PlanWorld& world, Machine& machine);

}  // namespace paceline::plan
