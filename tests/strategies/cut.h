// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace paceline::strategies {

/// Every way to cut `count` tensors; bit i: a cut behind tensor i.
inline std::vector<std::size_t> cut(std::size_t count, std::uint32_t bits) {
  std::vector<std::size_t> sizes{0};
  for (std::size_t i = 0; i < count; ++i) {
    ++sizes.back();
    if (i + 1 < count && ((bits >> i) & 1U) != 0) {
      sizes.push_back(0);
    }
  }
  return sizes;
}

}  // namespace paceline::strategies
