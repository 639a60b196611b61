// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include <torch/types.h>

#include "paceline/base/error.h"

namespace paceline::networks {

constexpr std::uint32_t low_word(std::uint64_t seed) { return static_cast<std::uint32_t>(seed); }
constexpr std::uint32_t high_word(std::uint64_t seed) {
  return static_cast<std::uint32_t>(seed >> 32);
}

/// Returns a contiguous CPU tensor whose element i is value(i).
template <class T, class Value>
at::Tensor tabulate(at::IntArrayRef sizes, const Value& value) {
  at::Tensor out = at::empty(sizes, at::TensorOptions(c10::CppTypeToScalarType<T>::value));
  PACELINE_CHECK(out.numel() <= std::numeric_limits<std::uint32_t>::max());
  T* data = out.template mutable_data_ptr<T>();
  const auto count = static_cast<std::uint32_t>(out.numel());
  for (std::uint32_t i = 0; i < count; ++i) {
    data[i] = static_cast<T>(value(i));
  }
  return out;
}

}  // namespace paceline::networks
