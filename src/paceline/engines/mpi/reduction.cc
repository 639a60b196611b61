// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/reduction.h"

#include <bit>

#include <c10/util/Half.h>

namespace paceline::engines::mpi {
namespace {

// These conversions replace c10's, because compilers vectorize them.
struct BFloat16Bits {
  static float to_float(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
  static std::uint16_t from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7FFFU + ((bits >> 16U) & 1U);
    const bool is_nan = (bits & 0x7FFF'FFFFU) > 0x7F80'0000U;
    return static_cast<std::uint16_t>(is_nan ? 0x7FC0U : rounded >> 16U);
  }
};

struct HalfBits {
  static float to_float(std::uint16_t bits) { return c10::detail::fp16_ieee_to_fp32_value(bits); }
  static std::uint16_t from_float(float value) {
    return c10::detail::fp16_ieee_from_fp32_value(value);
  }
};

// For maximum and minimum, the result is NaN if either operand is, as in libtorch.
struct Sum {
  static float of(float a, float b) { return a + b; }
};
struct Maximum {
  static float of(float a, float b) { return a > b || a != a ? a : b; }
};
struct Minimum {
  static float of(float a, float b) { return a < b || a != a ? a : b; }
};

template <class Bits, class Reduction>
void reduce(void* in, void* in_out, int* count, MPI_Datatype* /*type*/) {
  const auto* from = static_cast<const std::uint16_t*>(in);
  auto* to = static_cast<std::uint16_t*>(in_out);
  for (int i = 0; i < *count; ++i) {
    to[i] = Bits::from_float(Reduction::of(Bits::to_float(from[i]), Bits::to_float(to[i])));
  }
}

template <class Bits>
HalfReductions create() {
  HalfReductions all;
  MPI_Op_create(&reduce<Bits, Sum>, 1, &all.sum);
  MPI_Op_create(&reduce<Bits, Maximum>, 1, &all.maximum);
  MPI_Op_create(&reduce<Bits, Minimum>, 1, &all.minimum);
  return all;
}

}  // namespace

const HalfReductions& bf16_reductions() {
  static const HalfReductions all = create<BFloat16Bits>();
  return all;
}

const HalfReductions& fp16_reductions() {
  static const HalfReductions all = create<HalfBits>();
  return all;
}

}  // namespace paceline::engines::mpi
