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

/// Identifies an op by its step and its index in that step's plan.
using OpRef = Edge;

/// Tracks which ops of the open steps may start, because all ops that they wait for are complete.
///
/// A Frontier does not depend on time, threads or tensors: an executor reports completed ops and
/// takes the ops that have become ready.
class Frontier {
 public:
  Frontier(const ModelShape& model, const Setup& setup);

  /// Opens `step`, which must be the step after the last opened one.
  void open(Step step, const std::shared_ptr<const CommPlan>& plan);

  /// Reports that the effects of the op, which must be ready, are complete.
  void complete(OpRef ref);

  /// Reports that the op, which must be ready, is in the queue of a device.  Ops that wait for it
  /// then count as ready, since they can be queued after it on that device.  complete() follows
  /// when the device has done the op.
  void enqueue(OpRef ref);

  /// Whether a collective or an exchange of an open step waits for `ref`, directly or through
  /// kernels.
  bool leads_to_communication(OpRef ref) const;

  /// Returns the ops that became ready since the last call, in program order.
  std::vector<OpRef> take_ready();

  /// The ops before `ref` that are not complete and must not run at the same time as `ref`.  Later
  /// ops that `ref` excludes are not included.
  std::vector<OpRef> incomplete_exclusions_of(OpRef ref) const;

  bool is_ready(OpRef ref) const;     // whether the op may start, has started or is complete
  bool is_enqueued(OpRef ref) const;  // whether the op is in a device's queue or complete
  bool is_complete(OpRef ref) const;
  const Op& op(OpRef ref) const;

  /// The incomplete ops that `ref`, which must not be complete, waits for.
  std::vector<OpRef> incomplete_waits_of(OpRef ref) const;

  /// Whether every op of every open step is complete.
  bool idle() const { return steps_.empty(); }
  /// The number of steps that are opened and not finished.
  std::size_t open_steps() const { return steps_.size(); }

  /// Returns a chain of waits: `ref`, then the first op it waits for that is not enqueued, then the
  /// first such op that this one waits for, and so on. The chain ends at an op that waits for no
  /// such op.
  std::vector<OpRef> chain(OpRef ref) const;

  /// The number of times that dependencies were derived.  It is below the number of steps if the
  /// DependencyCache had the dependencies of some steps already.
  std::size_t derivation_count() const { return analyzer_.derived(); }

  /// The earliest op that is not complete; `idle()` must be false.
  OpRef oldest() const;

 private:
  enum class State : std::uint8_t { kWaiting, kReady, kEnqueued, kComplete };
  struct OpenStep {
    Step step = 0;
    std::shared_ptr<const CommPlan> plan;
    std::shared_ptr<const Dependencies> dependencies;  // their edges count steps from this one
    std::vector<std::int32_t>
        incomplete_predecessors;  // by op: number of predecessors not enqueued
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
