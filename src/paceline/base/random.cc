// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/random.h"

#include <cmath>
#include <numbers>

#include "paceline/base/error.h"

namespace paceline {
namespace {

std::uint32_t low(std::uint64_t bits) { return static_cast<std::uint32_t>(bits); }

std::uint32_t high(std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32); }

std::uint64_t joined(std::uint32_t lower, std::uint32_t upper) {
  return std::uint64_t{upper} << 32 | lower;
}

__extension__ using Product = unsigned __int128;  // a type of GCC and Clang

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key[0] += 0x9E3779B9U;  // golden ratio - 1, as a fraction of 2^32
    key[1] += 0xBB67AE85U;  // sqrt(3) - 1, as a fraction of 2^32
  }
  return counter;
}

std::array<std::uint64_t, 2> Random::bits_of(std::uint64_t block) const {
  const auto words =
      philox4x32({low(block), high(block), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
  return {joined(words[0], words[1]), joined(words[2], words[3])};
}

Random::result_type Random::operator()() {
  const std::uint64_t block = position_ / 2;
  if (!filled_ || block != block_) {
    bits_ = bits_of(block);
    block_ = block;
    filled_ = true;
  }
  return bits_[position_++ % 2];
}

void Random::fill(std::span<result_type> numbers) {
  std::size_t done = 0;
  if (position_ % 2 == 1 && !numbers.empty()) {
    numbers[done++] = (*this)();
  }
  for (; done + 2 <= numbers.size(); done += 2, position_ += 2) {
    const auto bits = bits_of(position_ / 2);
    numbers[done] = bits[0];
    numbers[done + 1] = bits[1];
  }
  if (done < numbers.size()) {
    numbers[done] = (*this)();
  }
}

double Random::uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  PACELINE_CHECK(bound > 0);
  Product product = Product{(*this)()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = Product{(*this)()} * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace paceline
