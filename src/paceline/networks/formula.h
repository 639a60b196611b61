// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "paceline/base/hash.h"

namespace paceline::networks {

// Random-looking numbers that depend only on a stream and an index. This header and
// adapters/formula.py compute the same bits on every machine and for every number of threads. No
// random generator is used.

/// Mixes 32 bits bijectively (C. Wellons, "lowbias32").
constexpr std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

/// Returns the number of the stream that `words`, in this order, identify.
constexpr std::uint32_t stream_of(std::initializer_list<std::uint32_t> words) {
  std::uint32_t stream = 0;
  for (const std::uint32_t word : words) {
    stream = mix(stream ^ word);
  }
  return stream;
}

/// Returns the stream of a name (32-bit FNV-1a of its bytes, mixed).
constexpr std::uint32_t stream_of(std::string_view name) { return mix(fnv1a_32(name)); }

constexpr std::uint32_t random_word_at(std::uint32_t stream, std::uint32_t index) {
  return mix(stream + index);
}

/// Returns a number that is uniform in [0, 1): a multiple of 2^-24, which a float represents
/// exactly.
constexpr double uniform_unit_at(std::uint32_t stream, std::uint32_t index) {
  return static_cast<double>(random_word_at(stream, index) >> 8) / 16777216.0;
}

/// Returns an integer that is uniform in 0 .. limit-1.
constexpr std::uint32_t uniform_integer_at(std::uint32_t stream, std::uint32_t index,
                                           std::uint32_t limit) {
  const std::uint64_t word = random_word_at(stream, index);
  return static_cast<std::uint32_t>((word * limit) >> 32);
}

}  // namespace paceline::networks
