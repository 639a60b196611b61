// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include <ATen/core/Tensor.h>

#include "paceline/base/error.h"
#include "paceline/plan/ragged.h"

namespace paceline::runtime {

// Functions for ragged slices (Note [Ragged slices]) as tensors on the CPU.

inline std::int64_t ragged_length(const at::Tensor& slice) {
  std::int64_t length = 0;
  std::memcpy(&length, slice.const_data_ptr(), sizeof(length));
  PACELINE_CHECK(length >= 0 &&
                 plan::kLengthBytes + length * static_cast<std::int64_t>(slice.element_size()) <=
                     static_cast<std::int64_t>(slice.nbytes()));
  return length;
}

inline void set_ragged_length(const at::Tensor& slice, std::int64_t length) {
  std::memcpy(slice.mutable_data_ptr(), &length, sizeof(length));
  ragged_length(slice);
}

/// Returns a pointer to the first element, which follows the length.
template <class T>
T* ragged_elements(const at::Tensor& slice) {
  return slice.mutable_data_ptr<T>() + plan::kLengthBytes / static_cast<std::int64_t>(sizeof(T));
}

/// The part of the slice that a message carries: the length and the elements in use.
inline at::Tensor used_part(const at::Tensor& slice) {
  const auto size = static_cast<std::int64_t>(slice.element_size());
  return slice.narrow(0, 0, plan::kLengthBytes / size + ragged_length(slice));
}

}  // namespace paceline::runtime
