// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/precision.h"

#include <ATen/autocast_mode.h>
#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::networks {
namespace {

at::ScalarType autocast_dtype(at::DeviceType device) {
  return device == at::kCUDA ? at::kHalf : at::kBFloat16;
}

}  // namespace

Precision parse_precision(std::string_view name) {
  if (name == "fp32") {
    return Precision::kFp32;
  }
  if (name == "bf16") {
    return Precision::kBf16;
  }
  if (name == "amp") {
    return Precision::kAmp;
  }
  throw UsageError(fmt::format("unknown dtype '{}'; known are fp32, bf16, amp", name));
}

at::ScalarType parameter_dtype(Precision precision) {
  return precision == Precision::kBf16 ? at::kBFloat16 : at::kFloat;
}

void cast_network(Network& network, at::ScalarType dtype) {
  const auto cast = [&](at::Tensor& tensor) {
    if (tensor.is_floating_point()) {
      tensor.set_data(tensor.to(dtype));
      tensor.mutable_grad().reset();
    }
  };
  for (at::Tensor& parameter : network.parameters()) {
    cast(parameter);
  }
  for (at::Tensor& buffer : network.buffers()) {
    cast(buffer);
  }
}

Autocast::Autocast(Precision precision, at::DeviceType device)
    : is_active_(precision == Precision::kAmp), device_(device) {
  if (is_active_) {
    was_enabled_ = at::autocast::is_autocast_enabled(device_);
    old_dtype_ = at::autocast::get_autocast_dtype(device_);
    at::autocast::set_autocast_enabled(device_, true);
    at::autocast::set_autocast_dtype(device_, autocast_dtype(device_));
    at::autocast::increment_nesting();
  }
}

Autocast::~Autocast() {
  if (is_active_) {
    // The cache holds low-precision copies of the weights, which the update makes stale.
    if (at::autocast::decrement_nesting() == 0) {
      at::autocast::clear_cache();
    }
    at::autocast::set_autocast_enabled(device_, was_enabled_);
    at::autocast::set_autocast_dtype(device_, old_dtype_);
  }
}

bool needs_loss_scaling(Precision precision, at::DeviceType device) {
  return precision == Precision::kAmp && autocast_dtype(device) == at::kHalf;
}

}  // namespace paceline::networks
