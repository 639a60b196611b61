// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/memory.h"

namespace paceline::runtime {

/// Turns a plan's slices into the tensors that kernels take.
///
/// Where the executor moves no gradients (nothing is exchanged, or PyTorch's
/// Reducer does it), autograd keeps the gradients, and the flat buffer is not
/// used.  A kernel that reads gradients then gets one tensor per parameter, for
/// its other operands as well.
class Operands {
 public:
  Operands(const FlatMemory& memory, bool flat_gradients);

  Call resolve(const plan::Kernel& kernel) const;

 private:
  Operand per_parameter(const plan::Slice& slice,
                        const plan::Slice& gradients) const;

  const FlatMemory& memory_;
  bool flat_gradients_;
};

/// Whether the executor itself moves gradients in some op of `plan`.
bool moves_gradients(const plan::Setup& setup, const plan::CommPlan& plan);

}  // namespace paceline::runtime
