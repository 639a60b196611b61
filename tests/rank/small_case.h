// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "paceline/rank/trainer.h"

namespace paceline::testing {

inline cases::Case small_case(const std::string& model, const std::string& strategy) {
  cases::Case c;
  c.model = model;
  c.strategy = strategy;
  c.batch_size = 4;
  c.bucket_mb = 0.25;
  c.learning_rate = 0;  // the same gradients in every step
  c.weight_decay = 0;
  return c;
}

// Gradients of every parameter after some steps, each [numel] in float64.
inline std::vector<at::Tensor> gradients_after(rank::Trainer& trainer, int steps) {
  for (int i = 0; i < steps; ++i) {
    trainer.step();
  }
  trainer.drain();
  std::vector<at::Tensor> out;
  for (const at::Tensor& parameter : trainer.memory().parameters()) {
    out.push_back(parameter.grad().detach().reshape({-1}).clone());
  }
  return out;
}

inline bool identical(const std::vector<at::Tensor>& left, const std::vector<at::Tensor>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const at::Tensor& a, const at::Tensor& b) { return at::equal(a, b); });
}

}  // namespace paceline::testing
