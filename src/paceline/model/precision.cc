// SPDX-License-Identifier: Apache-2.0
#include "paceline/model/precision.h"

#include <fstream>
#include <iterator>
#include <string>

#include <ATen/autocast_mode.h>
#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::model {
namespace {

at::ScalarType autocast_dtype(at::DeviceType device) {
  return device == at::kCUDA ? at::kHalf : at::kBFloat16;
}

/// Whether the space-separated `words` contain `word`.
bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = words.find_first_of(" \t\n");
    if (words.substr(0, end) == word) {
      return true;
    }
    words.remove_prefix(end == words.npos ? words.size() : end + 1);
  }
  return false;
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
  throw UsageError(
      fmt::format("unknown dtype '{}'; known are fp32, bf16, amp", name));
}

bool has_native_bf16(std::string_view cpuinfo) {
  return has_word(cpuinfo, "avx512_bf16") || has_word(cpuinfo, "amx_bf16") ||
         has_word(cpuinfo, "bf16");
}

void refuse_unsupported(Precision precision,
                        at::Device device,
                        std::string_view cpuinfo) {
  if (device.is_cpu() && precision != Precision::kFp32 &&
      !has_native_bf16(cpuinfo)) {
    throw UsageError(fmt::format(
        "dtype {} computes in bf16 on a CPU, and this CPU has no bf16 "
        "instructions (avx512_bf16, amx_bf16 or Arm bf16): it would be about "
        "40 times slower than fp32; use --dtype fp32",
        precision == Precision::kBf16 ? "bf16" : "amp"));
  }
}

void refuse_unsupported(Precision precision, at::Device device) {
  std::ifstream file("/proc/cpuinfo");
  const std::string cpuinfo{std::istreambuf_iterator<char>(file), {}};
  refuse_unsupported(precision, device, cpuinfo);
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
    : on_(precision == Precision::kAmp), device_(device) {
  if (on_) {
    was_enabled_ = at::autocast::is_autocast_enabled(device_);
    old_dtype_ = at::autocast::get_autocast_dtype(device_);
    at::autocast::set_autocast_enabled(device_, true);
    at::autocast::set_autocast_dtype(device_, autocast_dtype(device_));
    at::autocast::increment_nesting();
  }
}

Autocast::~Autocast() {
  if (on_) {
    // The cache holds low-precision copies of the weights, stale after the
    // update.
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

}  // namespace paceline::model
