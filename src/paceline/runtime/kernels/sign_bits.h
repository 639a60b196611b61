// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

// Signs as bits, eight a byte (I8), the first in the lowest.

namespace paceline::runtime {

/// A bit of each value: 1 where it is at least zero, 0 where it is below or not a number.  `values`
/// has a multiple of 8 elements.
void pack_signs(const at::Tensor& values, const at::Tensor& bits);

/// values = `scale` where the bit is 1, else -`scale`.  The last byte's bits may reach beyond the
/// values.
void write_signs(const at::Tensor& bits, double scale, const at::Tensor& values);

/// values += the same.
void add_signs(const at::Tensor& bits, double scale, const at::Tensor& values);

}  // namespace paceline::runtime
