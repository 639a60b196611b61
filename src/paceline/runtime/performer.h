// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::runtime {

/// Someone else who issues a plan's ops: its ops are priced and booked from
/// the plan and complete at the end of backward.
class Performer {
 public:
  virtual ~Performer() = default;
  /// Only the last micro-batch of a step communicates; the others add up.
  virtual void before_forward(bool last_micro) = 0;
  virtual void before_backward(bool last_micro) = 0;
  virtual void after_backward() = 0;
};

}  // namespace paceline::runtime
