// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "paceline/cluster/profile_file.h"
#include "paceline/networks/gates.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::rank {

/// The executor's functions that a replay calls where a network's hooks would.
struct ReplayCallbacks {
  networks::Gates& gates;
  std::function<void(plan::ParameterId)> ready;
  /// Returns the total time in nanoseconds spent waiting at gates.
  std::function<std::int64_t()> gate_wait_ns;
};

/// The clock that a replay reads, and by which it sleeps.
struct ReplayClock {
  std::function<std::int64_t()> now_ns;
  std::function<void(std::int64_t)> sleep_until_ns;
};

/// Returns the machine's own clock.
ReplayClock real_replay_clock();

/// Performs a network's forward and backward pass without computing: sleeps for the recorded time
/// of each layer, and calls the executor in the network's order.
///
/// Note [Replayed time].  The end of a layer is counted from the start of the first step: the sum
/// of all recorded times before it and of the time waited at gates.  A sleep or a call that takes
/// too long therefore shortens the next sleeps, and errors do not add up.  A processor that many
/// sleeping ranks share delays single layers, not the whole step.
class Replay {
 public:
  /// Every recorded time is multiplied by `stretch`.
  Replay(cluster::ProfiledModel profiled, double stretch, ReplayClock clock = real_replay_clock());

  const cluster::ProfiledModel& profiled() const { return profiled_; }

  void forward(const ReplayCallbacks& events);
  void backward(const ReplayCallbacks& events);

  /// Makes the next phase begin when it is called, not at the planned end of the last phase.
  void interrupt() { due_ns_.reset(); }

  /// Returns how long to sleep instead of running the kernel, or nothing for a kernel that is run.
  /// Only update kernels are replaced by a sleep.  Its length is the profile's update time, scaled
  /// by the fraction of all elements that the kernel writes; zero if the profile has no update
  /// time.
  std::optional<std::chrono::nanoseconds> kernel_time(const plan::Kernel& kernel) const;

 private:
  void begin(const ReplayCallbacks& events);
  void compute(plan::Picoseconds time, const ReplayCallbacks& events);

  cluster::ProfiledModel profiled_;
  double stretch_;
  double update_ns_per_element_ = 0;
  ReplayClock clock_;
  std::optional<double> due_ns_;   // planned end of the layers replayed so far
  std::int64_t gate_wait_ns_ = 0;  // wait at gates that due_ns_ includes
};

/// Returns whether the rank's plan has a codec.  The time of a codec depends on the values that it
/// compresses, so a replay of such a plan writes gradients.
bool codes(const plan::Planner& planner, const plan::PlanInput& input);

/// Returns the bytes of the rank's buffers that a replay of the plan writes: received values,
/// results of kernels that are run, and gradients if they are compressed.  Layers and updates are
/// sleeps, so parameters and the optimizer's state take no memory.
std::int64_t replay_written_bytes(const plan::Planner& planner, const plan::PlanInput& input);

}  // namespace paceline::rank
