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

/// Runs a plan's kernels on the tensors of a rank.  Any thread may call it: the plan's hazards
/// ensure that kernels that touch the same elements do not overlap.
class KernelRunner {
 public:
  /// Returns how long to sleep in place of running a kernel, for a replay; std::nullopt: the kernel
  /// runs.
  using Time = std::function<std::optional<std::chrono::nanoseconds>(const plan::Kernel&)>;

  /// A null `time` runs every kernel. `seed` is the job's: a kernel's random numbers depend on the
  /// seed, the step and the op. A kernel that encodes or decodes takes `stretch` times its compute
  /// time: after it, the thread sleeps for the rest. `beat` reports that the rank is alive; a
  /// thread that sleeps or runs a long kernel calls it several times a second.
  KernelRunner(OptimizerSettings rule, Operands operands, Time time, std::uint64_t seed = 0,
               double stretch = 1,
               std::function<void(plan::Step, const std::string& kernel)> beat = {});

  /// Must be called before the first step: runs those kernels of the first plan that write the
  /// initial contents of memory.  After that run() skips these kernels.
  void start(const plan::CommPlan& first);

  /// Must be called while no kernel that updates parameters runs.
  void set_rule(OptimizerSettings rule) { rule_ = std::move(rule); }

  /// `ref` is the step and the index of the kernel's op.
  void run(plan::OpRef ref, const plan::Kernel& kernel) const;

  /// Time spent in kernels that encode or decode, summed over all threads since the start, in ns
  /// and without the time slept for `stretch`.
  std::int64_t coding_ns() const { return coding_ns_; }

  /// Returns the operands and constants with which run() would call the kernel.
  Call call_of(plan::OpRef ref, const plan::Kernel& kernel) const;

 private:
  void sleep_until(std::int64_t ns, plan::Step step, const plan::Kernel& kernel) const;

  OptimizerSettings rule_;
  Operands operands_;
  Time time_;
  std::uint64_t seed_;
  double stretch_;
  std::function<void(plan::Step, const std::string& kernel)> beat_;
  bool initial_kernels_done_ = false;
  mutable std::atomic<std::int64_t> coding_ns_{0};
};

}  // namespace paceline::runtime
