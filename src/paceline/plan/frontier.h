// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/dependency_analyzer.h"
#include "paceline/plan/dependency_cache.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// One op of one step.
using OpRef = Edge;

/// Which ops of the open steps may start: those whose hazards are gone.
///
/// It knows nothing of time, threads or tensors; an executor reports what has completed and takes
/// what has become ready.
class Frontier {
 public:
  Frontier(const ModelShape& model, const Setup& setup);

  /// Opens `step`, which must follow the last one opened.
  void open(Step step, const std::shared_ptr<const CommPlan>& plan);

  /// The op's effects are done; it must be ready.
  void complete(OpRef ref);

  /// The op, which is ready, stands in a queue of a device.  Ops that wait for it count as ready,
  /// since they can be put behind it there.  complete() follows once the device has done it.
  void enqueue(OpRef ref);

  /// Whether a collective or an exchange of an open step waits for `ref`, directly or by way of
  /// kernels.
  bool leads_to_communication(OpRef ref) const;

  /// The ops that became ready since the last call, in program order.
  std::vector<OpRef> take_ready();

  /// The earlier ops that are not complete and must not run at the same time
  /// as `ref`; those of which `ref` is the earlier one are not named.
  std::vector<OpRef> excluded_by(OpRef ref) const;

  bool is_ready(OpRef ref) const;     // may start, or has, or is complete
  bool is_enqueued(OpRef ref) const;  // or is complete
  bool is_complete(OpRef ref) const;
  const Op& op(OpRef ref) const;

  /// What `ref`, which is not complete, waits for and is not complete.
  std::vector<OpRef> incomplete_before(OpRef ref) const;

  /// Every op of every open step is complete.
  bool idle() const { return steps_.empty(); }
  /// Steps opened and not finished.
  std::size_t open_steps() const { return steps_.size(); }

  /// `ref`, the first op it waits for that is not enqueued, what that one waits
  /// for, and so on to an op that waits for none.
  std::vector<OpRef> chain(OpRef ref) const;

  /// How often dependencies were derived; fewer times than there were steps, as a DependencyCache
  /// says.
  std::size_t derivations() const { return analyzer_.derived(); }

  /// The earliest op that is not complete; `idle()` must be false.
  OpRef oldest() const;

 private:
  enum class State : std::uint8_t { kWaiting, kReady, kEnqueued, kComplete };
  struct OpenStep {
    Step step = 0;
    std::shared_ptr<const CommPlan> plan;
    std::shared_ptr<const Dependencies> dependencies;  // steps counted from this one
    std::vector<std::int32_t> unmet;                   // predecessors that are not enqueued
    std::vector<State> state;
    std::vector<std::vector<OpRef>> successors;
    std::size_t remaining = 0;
  };

  void forget_finished();
  const OpenStep* find(Step step) const;
  OpenStep* find(Step step);

  DependencyCache analyzer_;
  std::deque<OpenStep> steps_;
  std::vector<OpRef> ready_;
  Step next_step_ = 0;
};

}  // namespace paceline::plan
