// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "paceline/runtime/kernels/table.h"
#include "paceline/runtime/operands.h"
#include "paceline/runtime/streams.h"

namespace paceline::runtime {

/// Runs a plan's kernels on the tensors of a rank.  Any thread may call it; the
/// hazards of a plan keep apart what touches the same elements.
class KernelRunner {
 public:
  /// For how long a kernel is slept through instead of run; nothing: it is run.
  using Time = std::function<std::optional<std::chrono::nanoseconds>(
      const plan::Kernel&)>;

  /// `streams` must outlive it.  A null `time` runs every kernel.
  KernelRunner(UpdateRule rule,
               Operands operands,
               const Streams& streams,
               Time time);

  void run(const plan::Kernel& kernel) const;

 private:
  UpdateRule rule_;
  Operands operands_;
  const Streams& streams_;
  Time time_;
};

}  // namespace paceline::runtime
