// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <torch/types.h>

#include "paceline/networks/network.h"

namespace paceline::networks {

enum class Precision {
  kFp32,
  kBf16,  // everything is bf16: parameters, gradients, activations, statistics
  kAmp    // float32 parameters; autocast to fp16 (cuda) or bf16 (cpu)
};

/// Parses "fp32", "bf16" or "amp"; throws UsageError that lists these for any other name.
Precision parse_precision(std::string_view name);

/// Returns the dtype of parameters, gradients and inputs in this precision.
at::ScalarType parameter_dtype(Precision precision);

/// Casts floating-point parameters and buffers, as Python's Module.to(dtype) does, and drops
/// gradients.
void cast_network(Network& network, at::ScalarType dtype);

/// While it lives, operations of this thread, and of the backward passes that start in this thread,
/// compute in the lower precision of kAmp; for other precisions it does nothing.  It should enclose
/// forward and loss, not backward.
class Autocast {
 public:
  Autocast(Precision precision, at::DeviceType device);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool is_active_;
  at::DeviceType device_;
  bool was_enabled_ = false;
  at::ScalarType old_dtype_ = at::kFloat;
};

/// Whether the loss must be scaled: only with fp16 do gradients underflow.
bool needs_loss_scaling(Precision precision, at::DeviceType device);

}  // namespace paceline::networks
