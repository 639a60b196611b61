// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

// The number of values that one loop encodes. It is a constant because compilers vectorize loops of
// known length.
constexpr std::int64_t kValuesPerLoop = 64;

// Rounds values to codes: signed multiples of norm / levels, rounded up or down at random.
void round_some(const std::array<float, kValuesPerLoop>& values, float inverse, float levels,
                Random& random, std::array<std::int8_t, kValuesPerLoop>& codes) {
  std::array<std::uint64_t, kValuesPerLoop / 2> numbers;
  random.fill(numbers);
  std::array<std::int32_t, kValuesPerLoop> draws;  // 24 bits, which a float holds exactly
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    draws[2 * i] = static_cast<std::int32_t>((numbers[i] & 0xFFFFFFFFU) >> 8);
    draws[2 * i + 1] = static_cast<std::int32_t>(numbers[i] >> 40);
  }
  for (std::size_t i = 0; i < kValuesPerLoop; ++i) {
    const float scaled = std::fabs(values[i]) * inverse;
    const float drawn = static_cast<float>(draws[i]) * 0x1p-24F;
    const auto code = static_cast<std::int32_t>(std::min(scaled + drawn, levels));
    codes[i] = static_cast<std::int8_t>(values[i] < 0 ? -code : code);
  }
}

// Rounds the values of one block to codes, kValuesPerLoop values at a time.
void round_block(std::span<const float> values, float inverse, float levels, Random& random,
                 std::int8_t* codes) {
  std::array<float, kValuesPerLoop> some{};
  std::array<std::int8_t, kValuesPerLoop> rounded;
  while (!values.empty()) {
    const std::size_t n = std::min(some.size(), values.size());
    std::copy_n(values.begin(), n, some.begin());
    round_some(some, inverse, levels, random, rounded);
    codes = std::copy_n(rounded.begin(), n, codes);
    values = values.subspan(n);
  }
}

struct QsgdParameters {
  std::int64_t count = 0, block = 0;
  float levels = 1;

  std::int64_t blocks() const { return (count + block - 1) / block; }
  std::int64_t bytes() const { return count + 4 * blocks(); }
  at::Tensor norms_in(const at::Tensor& bytes) const {
    return bytes.narrow(0, count, 4 * blocks());
  }
};

QsgdParameters qsgd_parameters_of(const Call& call, std::int64_t count) {
  return {.count = count,
          .block = static_cast<std::int64_t>(call.numbers[1]),
          .levels = static_cast<float>(call.numbers[0])};
}

}  // namespace

void run_qsgd(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor values = call.reads[0].front().to(at::kCPU, at::kFloat).contiguous();
  const QsgdParameters form = qsgd_parameters_of(call, values.numel());
  at::Tensor bytes = at::empty({form.bytes()}, at::kChar);
  at::Tensor norms = at::empty({form.blocks()}, at::kFloat);
  Random random = random_of(call.random, static_cast<std::uint64_t>(call.numbers[2]));
  const auto* from = values.const_data_ptr<float>();
  for (std::int64_t b = 0; b < form.blocks(); ++b) {
    const std::int64_t begin = b * form.block;
    const std::int64_t count = std::min(form.block, form.count - begin);
    double squares = 0;
    for (std::int64_t i = begin; i < begin + count; ++i) {
      squares += static_cast<double>(from[i]) * static_cast<double>(from[i]);
    }
    const auto norm = static_cast<float>(std::sqrt(squares));
    norms.data_ptr<float>()[b] = norm;
    // A block with values that are not finite decodes to NaN, because its norm is not finite.
    const float inverse = norm > 0 && std::isfinite(norm) ? form.levels / norm : 0;
    random.seek(static_cast<std::uint64_t>((begin + 1) / 2));
    if (inverse > 0) {
      round_block({from + begin, static_cast<std::size_t>(count)}, inverse, form.levels, random,
                  bytes.data_ptr<std::int8_t>() + begin);
    } else {
      bytes.narrow(0, begin, count).zero_();
    }
  }
  form.norms_in(bytes).copy_(norms.view(at::kChar));
  call.writes[0].front().copy_(bytes);
}

void run_qsgd_sum(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& out = call.writes[0].front();
  const QsgdParameters form = qsgd_parameters_of(call, out.numel());
  PACELINE_CHECK_EQ(call.reads[0].front().numel() % form.bytes(), 0);
  at::Tensor sum = at::zeros({form.count}, at::kFloat);
  auto* to = sum.data_ptr<float>();
  for (const at::Tensor& one : call.reads[0].front().cpu().split(form.bytes())) {
    const at::Tensor norms = form.norms_in(one).clone().view(at::kFloat);
    const auto* codes = one.const_data_ptr<std::int8_t>();
    for (std::int64_t b = 0; b < form.blocks(); ++b) {
      const float level = norms.const_data_ptr<float>()[b] / form.levels;
      const std::int64_t end = std::min((b + 1) * form.block, form.count);
      std::int64_t i = b * form.block;
      for (; i + kValuesPerLoop <= end; i += kValuesPerLoop) {
        for (std::int64_t j = i; j < i + kValuesPerLoop; ++j) {
          to[j] += level * static_cast<float>(codes[j]);
        }
      }
      for (; i < end; ++i) {
        to[i] += level * static_cast<float>(codes[i]);
      }
    }
  }
  out.copy_(sum);
}

}  // namespace paceline::runtime
