// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::runtime {

/// Someone else who issues a plan's ops: its ops are priced and booked from
/// the plan and complete at the end of backward.
class Performer {
 public:
  virtual ~Performer() = default;
  virtual void before_forward() = 0;
  virtual void before_backward() = 0;
  virtual void after_backward() = 0;
};

}  // namespace paceline::runtime
