// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/sign_bits.h"

#include <array>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <torch/types.h>

#include "paceline/base/error.h"

namespace paceline::runtime {
namespace {

// Packs eight bytes of 0 or 1 by a multiplication: in the product of the eight bytes, as one I64,
// with this constant, byte i's bit stands at position 56 + i = 8 i + (56 - 7 i).  All other pairs
// of bits meet at positions of their own, so that no carries occur.
constexpr std::int64_t kGatherBits = 0x0102040810204080;

// A byte times kSpread is eight copies of the byte; kDiagonal keeps bit i in copy i.
constexpr std::int64_t kSpread = 0x0101010101010101;
constexpr auto kDiagonal = static_cast<std::int64_t>(0x8040201008040201U);

using EightSigns = std::array<float, 8>;

// The eight signs that each value of a byte encodes.
constexpr std::array<EightSigns, 256> kSigns = [] {
  std::array<EightSigns, 256> signs{};
  for (std::size_t byte = 0; byte < signs.size(); ++byte) {
    for (std::size_t bit = 0; bit < 8; ++bit) {
      signs[byte][bit] = (byte >> bit & 1U) != 0 ? 1.F : -1.F;
    }
  }
  return signs;
}();

bool is_plain(const at::Tensor& values) {
  return values.is_cpu() && values.scalar_type() == at::kFloat && values.is_contiguous();
}

void pack(const float* values, std::int64_t bytes, std::int8_t* bits) {
  std::int64_t at = 0;
#ifdef __SSE2__
  const __m128 zero = _mm_setzero_ps();
  const auto four = [&](const float* from) {
    return _mm_castps_si128(_mm_cmpge_ps(_mm_loadu_ps(from), zero));
  };
  for (; at + 2 <= bytes; at += 2) {
    const float* from = values + 8 * at;
    const __m128i low = _mm_packs_epi32(four(from), four(from + 4));
    const __m128i high = _mm_packs_epi32(four(from + 8), four(from + 12));
    const int both = _mm_movemask_epi8(_mm_packs_epi16(low, high));
    bits[at] = static_cast<std::int8_t>(both);
    bits[at + 1] = static_cast<std::int8_t>(both >> 8);
  }
#endif
  for (; at < bytes; ++at) {
    unsigned byte = 0;
    for (unsigned bit = 0; bit < 8; ++bit) {
      byte |= (values[8 * at + bit] >= 0 ? 1U : 0U) << bit;
    }
    bits[at] = static_cast<std::int8_t>(byte);
  }
}

// Calls put(value, its sign times the scale) for each value, byte by byte.
template <class Put>
void put_signs(const at::Tensor& bits, double scale, const at::Tensor& values, const Put& put) {
  const auto* bytes = bits.const_data_ptr<std::int8_t>();
  auto* to = values.data_ptr<float>();
  const auto by = static_cast<float>(scale);
  const auto put_byte = [&](std::int64_t byte, std::int64_t n) {
    const EightSigns& signs = kSigns[static_cast<std::uint8_t>(bytes[byte])];
    for (std::int64_t i = 0; i < n; ++i) {
      put(to[8 * byte + i], by * signs[static_cast<std::size_t>(i)]);
    }
  };
  const std::int64_t full = values.numel() / 8;
  for (std::int64_t byte = 0; byte < full; ++byte) {
    put_byte(byte, 8);
  }
  if (values.numel() % 8 != 0) {
    put_byte(full, values.numel() % 8);
  }
}

// Expands bits to one boolean per value.
at::Tensor expand_bits(const at::Tensor& bits, std::int64_t values) {
  return bits.to(at::kLong)
      .bitwise_and_(0xFF)
      .mul_(kSpread)
      .bitwise_and_(kDiagonal)
      .view(at::kChar)
      .ne(0)
      .narrow(0, 0, values);
}

}  // namespace

void pack_signs(const at::Tensor& values, const at::Tensor& bits) {
  PACELINE_CHECK_EQ(values.numel(), 8 * bits.numel());
  if (is_plain(values)) {
    pack(values.const_data_ptr<float>(), bits.numel(), bits.data_ptr<std::int8_t>());
    return;
  }
  bits.copy_(values.ge(0).view(at::kLong).mul(kGatherBits).__rshift__(56));
}

void write_signs(const at::Tensor& bits, double scale, const at::Tensor& values) {
  if (!is_plain(values)) {
    values.copy_(expand_bits(bits, values.numel())).mul_(2).sub_(1).mul_(scale);
    return;
  }
  put_signs(bits, scale, values, [](float& value, float sign) { value = sign; });
}

void add_signs(const at::Tensor& bits, double scale, const at::Tensor& values) {
  if (!is_plain(values)) {
    at::Tensor signs = at::empty_like(values);
    write_signs(bits, scale, signs);
    values.add_(signs);
    return;
  }
  put_signs(bits, scale, values, [](float& value, float sign) { value += sign; });
}

}  // namespace paceline::runtime
