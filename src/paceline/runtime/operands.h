// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/memory.h"

namespace paceline::runtime {

/// Turns a plan's slices into the tensors that kernels take.
///
/// If the executor moves no gradients of a buffer (because nothing is exchanged, or PyTorch's
/// Reducer exchanges them), autograd keeps these gradients and the flat buffer is unused.  A kernel
/// that reads them then gets one tensor per parameter, for its other operands as well.
class Operands {
 public:
  /// `flat`: the buffers whose gradients the executor moves.
  Operands(const FlatMemory& memory, std::set<plan::BufferId> flat);

  Call resolve(const plan::Kernel& kernel) const;

 private:
  Operand per_parameter(const plan::Slice& slice, const plan::Slice& gradients) const;

  const plan::Slice* slice_to_split(const plan::Kernel& kernel) const;

  const FlatMemory& memory_;
  std::set<plan::BufferId> gradients_;  // buffers that hold gradients
  std::set<plan::BufferId> flat_;
};

/// Returns the buffers that hold gradients.
std::set<plan::BufferId> gradient_buffers(const plan::Setup& setup);

/// Returns the gradient buffers of which some op of `plan` that the executor itself issues moves
/// gradients.
std::set<plan::BufferId> moved_gradients(const plan::Setup& setup, const plan::CommPlan& plan);

}  // namespace paceline::runtime
