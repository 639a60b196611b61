// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/plan_world.h"

namespace paceline::plan {

/// The effects of a plan's ops on the memory of all ranks.
class Machine {
 public:
  virtual ~Machine() = default;

  virtual void forward(Rank rank, Step step, const Forward& work) = 0;
  virtual void backward(Rank rank, Step step, const Backward& work) = 0;
  virtual void kernel(Rank rank, Step step, const Kernel& work) = 0;

  /// Performs a collective on the memory of all members. `parts[i]` is the op of the i-th member.
  virtual void collective(const Communicator& on, const std::vector<const Collective*>& parts) = 0;

  /// Keeps a copy of the sent slice under the number `message`.  Each message is received once.
  virtual void send(Rank from, const Slice& slice, std::size_t message) = 0;
  virtual void receive(Rank to, const Slice& slice, std::size_t message) = 0;
};

/// Whether an exchange that sends completes at once, or only after each receiver has reached the
/// exchange that receives the message. The latter is how an engine behaves that performs one
/// operation at a time.
enum class SendMode : std::uint8_t { kDoNotWait, kWait };

/// Runs the steps of all ranks one op after the other.  The resulting memory defines the meaning of
/// the plans.
///
/// Every rank runs its ops in program order.  A collective runs when all its members have reached
/// it.  A send leaves a copy, and a receive waits for that copy.  Throws PlanError, with the chain
/// of ops that wait for each other, if no rank can go on.
void interpret(const PlanWorld& world, Machine& machine, SendMode sends = SendMode::kDoNotWait);

}  // namespace paceline::plan
