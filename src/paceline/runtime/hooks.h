// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/plan/comm_plan.h"

namespace paceline::runtime {

/// Calls `ready(p)` on the backward thread each time parameter p's gradient
/// has been accumulated, until the hooks are removed.
class GradientHooks {
 public:
  using Ready = std::function<void(plan::ParameterId)>;

  GradientHooks(const std::vector<at::Tensor>& parameters, Ready ready);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  std::vector<at::Tensor> parameters_;
};

}  // namespace paceline::runtime
