// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

// Signs as bits, eight per byte (I8), the first in the lowest bit.

namespace paceline::runtime {

/// Writes one bit per value: 1 if the value is at least zero, 0 if it is negative or NaN.  The
/// number of values must be a multiple of 8.
void pack_signs(const at::Tensor& values, const at::Tensor& bits);

/// Sets each value to `scale` where its bit is 1, else to -`scale`.  The last byte may have more
/// bits than there are values left.
void write_signs(const at::Tensor& bits, double scale, const at::Tensor& values);

/// Adds what write_signs() would write: values += `scale` where the bit is 1, else -`scale`.
void add_signs(const at::Tensor& bits, double scale, const at::Tensor& values);

}  // namespace paceline::runtime
