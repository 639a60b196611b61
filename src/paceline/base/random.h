// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace paceline {

/// Philox4x32 with 10 rounds: returns 128 random bits as a pure function of a counter and a key.
/// Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// Random numbers that depend only on (seed, stream, position): they are equal on every machine and
/// compiler, and independent between streams.  So each rank, step or resample can have its own
/// stream without shared state.
///
/// The key is the seed; the counter is the position (low 64 bits) and the stream (high 64 bits).
/// This class is a uniform random bit generator for std::shuffle.  Use its members instead of std's
/// distributions, which differ between libraries.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  /// Returns the next 64 random bits of the stream.
  result_type operator()();

  /// Fills `numbers` with the next numbers of the stream, at a few nanoseconds each.
  void fill(std::span<result_type> numbers);

  /// Returns a number that is uniform in [0, 1), a multiple of 2^-53.
  double uniform();

  /// Returns an unbiased uniform number in [0, bound), where `bound` > 0.  Lemire, ACM TOMACS
  /// 29(1), 2019, algorithm 5.
  std::uint64_t below(std::uint64_t bound);

  /// Returns a normally distributed number with mean 0 and variance 1 (Box-Muller).  It goes
  /// through the C library's log and cos, so its last bit may differ between machines.
  double normal();

  /// Moves to the 64-bit number at `position` in the stream.
  void seek(std::uint64_t position) { position_ = position; }

 private:
  std::array<std::uint64_t, 2> bits_of(std::uint64_t block) const;

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t position_ = 0;  // in units of 64 bits; a block holds two
  std::uint64_t block_ = 0;     // the block that `bits_` holds
  std::array<std::uint64_t, 2> bits_{};
  bool filled_ = false;
};

/// Puts `values` into random order; all orders are equally likely.  Durstenfeld, "Algorithm 235:
/// Random permutation", Communications of the ACM 7(7), 1964.
template <class T>
void shuffle(std::span<T> values, Random& random) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[random.below(left)]);
  }
}

}  // namespace paceline
