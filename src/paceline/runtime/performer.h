// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::runtime {

/// Issues some collectives of a plan in place of the executor, as PyTorch's
/// Reducer does (plan::Op::performer).  These ops count as complete at the end
/// of the backward pass.
class Performer {
 public:
  virtual ~Performer() = default;
  /// Only the last micro-batch of a step communicates; in the others gradients
  /// add up.
  virtual void before_forward(bool last_micro) = 0;
  virtual void before_backward(bool last_micro) = 0;
  virtual void after_backward() = 0;
};

}  // namespace paceline::runtime
