// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/memory.h"

namespace paceline::runtime {

/// Turns a plan's slices into the tensors that kernels take.
///
/// Where no op of the executor moves gradients (no exchange, or PyTorch's
/// Reducer does it), gradients stay with autograd and are never copied into
/// the flat buffer; a kernel that reads them gets one tensor per parameter,
/// and so do its other operands.
class Operands {
 public:
  Operands(const FlatMemory& memory, bool flat_gradients);

  runtime::Call resolve(const plan::Kernel& kernel) const;

 private:
  runtime::Operand per_parameter(const plan::Slice& slice,
                                 const plan::Slice& gradients) const;

  const FlatMemory& memory_;
  bool flat_gradients_;
};

/// Whether the executor itself moves gradients in some op of `plan`.
bool moves_gradients(const plan::Setup& setup, const plan::CommPlan& plan);

}  // namespace paceline::runtime
