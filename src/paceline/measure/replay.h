// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "paceline/cluster/profile_file.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::measure {

/// What a replay does to the executor in the network's place.
struct ReplayEvents {
  std::function<void(plan::ModuleId)> enter, leave;
  std::function<bool(plan::ModuleId)> gates_backward;
  std::function<void(plan::ModuleId)> enter_backward;
  std::function<void(plan::ParameterId)> ready;
  /// Time that has been stood at gates, ever.
  std::function<std::int64_t()> stood_ns;
};

/// The clock that a replay lives by.
struct ReplayClock {
  std::function<std::int64_t()> now_ns;
  std::function<void(std::int64_t)> sleep_until_ns;
};

/// The machine's.
ReplayClock real_replay_clock();

/// A network's forward and backward without computing: sleeps through the
/// recorded layers and tells what the network would have told, in its order.
///
/// Note [Replayed time].  A layer ends at a moment that is counted from the
/// start of the first step: the sum of all recorded times before it, and of the
/// time stood at gates.  So what a sleep or a call takes too long shortens the
/// next sleeps, and errors do not add up; a processor that is shared by many
/// sleeping ranks delays single layers, not the whole.
class Replay {
 public:
  /// Every recorded time is multiplied by `stretch`.
  Replay(cluster::ProfiledModel profiled,
         double stretch,
         ReplayClock clock = real_replay_clock());

  const cluster::ProfiledModel& profiled() const { return profiled_; }

  void forward(const ReplayEvents& events);
  void backward(const ReplayEvents& events);

  /// The next phase begins when it is called: something else came between.
  void interrupt() { due_ns_.reset(); }

  /// How long a kernel is slept through instead of run: the recorded update,
  /// by the share of the elements that it writes (none where the profile has
  /// no time); nothing: it is run.
  std::optional<std::chrono::nanoseconds> kernel_time(
      const plan::Kernel& kernel) const;

 private:
  void begin(const ReplayEvents& events);
  void compute(plan::Picoseconds time, const ReplayEvents& events);

  cluster::ProfiledModel profiled_;
  double stretch_;
  double update_ns_per_element_ = 0;
  ReplayClock clock_;
  std::optional<double> due_ns_;  // when what has been replayed should end
  std::int64_t stood_ns_ = 0;     // until then
};

}  // namespace paceline::measure
