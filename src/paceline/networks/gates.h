// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/comm_plan.h"

namespace paceline::networks {

/// What an executor does around a gated unit's forward and backward.
class Gates {
 public:
  virtual ~Gates() = default;
  /// Returns when the unit's parameters may be read; may throw.
  virtual void enter(plan::ModuleId module) = 0;
  virtual void leave(plan::ModuleId module) = 0;
  /// Whether anything may wait behind the unit's backward gate.
  virtual bool gates_backward(plan::ModuleId module) const = 0;
  virtual void enter_backward(plan::ModuleId module) = 0;
};

}  // namespace paceline::networks
