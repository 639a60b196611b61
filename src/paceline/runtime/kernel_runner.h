// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "paceline/plan/frontier.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/runtime/operands.h"

namespace paceline::runtime {

/// Runs a plan's kernels on the tensors of a rank.  Any thread may call it; the hazards of a plan
/// keep apart what touches the same elements.
class KernelRunner {
 public:
  /// For how long a kernel is slept through instead of run; nothing: it is run.
  using Time = std::function<std::optional<std::chrono::nanoseconds>(const plan::Kernel&)>;

  /// A null `time` runs every kernel.  `seed` is the job's: what a kernel draws depends on it, the
  /// step and the op.  A kernel that codes takes `stretch` times as long as it computes: the thread
  /// sleeps for the rest.  `beat` is called several times a second from a thread that sleeps or is
  /// in a kernel that takes long.
  KernelRunner(OptimizerSettings rule, Operands operands, Time time, std::uint64_t seed = 0,
               double stretch = 1,
               std::function<void(plan::Step, const std::string& kernel)> beat = {});

  /// Before the first step: runs the kernels of its plan that write what memory holds at the start.
  /// run() passes over them then.
  void start(const plan::CommPlan& first);

  /// Called while no kernel runs that updates parameters.
  void set_rule(OptimizerSettings rule) { rule_ = std::move(rule); }

  /// `ref` is where the kernel stands in the job.
  void run(plan::OpRef ref, const plan::Kernel& kernel) const;

  /// Time in kernels that code what crosses, of all threads since the start, without what they
  /// slept.
  std::int64_t coding_ns() const { return coding_ns_; }

  /// What run() passes on.
  Call call_of(plan::OpRef ref, const plan::Kernel& kernel) const;

 private:
  void sleep_until(std::int64_t ns, plan::Step step, const plan::Kernel& kernel) const;

  OptimizerSettings rule_;
  Operands operands_;
  Time time_;
  std::uint64_t seed_;
  double stretch_;
  std::function<void(plan::Step, const std::string& kernel)> beat_;
  bool started_ = false;
  mutable std::atomic<std::int64_t> coding_ns_{0};
};

}  // namespace paceline::runtime
