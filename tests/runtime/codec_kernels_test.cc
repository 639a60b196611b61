// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

Call call_of(std::vector<Operand> reads, std::vector<Operand> writes) {
  return {.reads = std::move(reads), .writes = std::move(writes), .numbers = {}};
}

struct Selected {
  at::Tensor values, places, residual;
};

Selected topk(const at::Tensor& gradients, const at::Tensor& residual, std::int64_t k) {
  Selected out{.values = at::zeros({k}, gradients.options()),
               .places = at::zeros({k}, at::kInt),
               .residual = residual.clone()};
  run_topk({},
           call_of({{gradients}, {out.residual}}, {{out.values}, {out.places}, {out.residual}}));
  return out;
}

at::Tensor scattered(const at::Tensor& values, const at::Tensor& places, std::int64_t elements) {
  const at::Tensor sum = at::full({elements}, 7, values.options());
  run_scatter({}, call_of({{values}, {places}}, {{sum}}));
  return sum;
}

at::Tensor random(std::int64_t elements, at::ScalarType type, int seed) {
  at::manual_seed(static_cast<std::uint64_t>(seed));
  return at::randn({elements}).to(type);
}

class EveryType : public ::testing::TestWithParam<at::ScalarType> {};

// Bit for bit: an element either crosses whole or stays whole.
TEST_P(EveryType, WhatCrossesAndWhatStaysIsWhatThereWas) {
  for (const std::int64_t n : {1, 16, 1000, 4097}) {
    for (const std::int64_t k : {std::int64_t{1}, (n + 9) / 10, n}) {
      const at::Tensor gradients = random(n, GetParam(), 1);
      const at::Tensor before = random(n, GetParam(), 2);
      const Selected out = topk(gradients, before, k);
      EXPECT_TRUE(
          at::equal(scattered(out.values, out.places, n) + out.residual, before + gradients));
      EXPECT_EQ(out.residual.ne(0).sum().item<std::int64_t>(),
                (before + gradients).ne(0).sum().item<std::int64_t>() -
                    out.values.ne(0).sum().item<std::int64_t>());
    }
  }
}

TEST_P(EveryType, TheLargestCrossInOrderOfTheirPlaces) {
  const at::Tensor gradients = random(1000, GetParam(), 3);
  const Selected out = topk(gradients, at::zeros_like(gradients), 100);
  EXPECT_GE(out.values.abs().min().item<double>(), out.residual.abs().max().item<double>());
  EXPECT_TRUE(out.places.slice(0, 1).gt(out.places.slice(0, 0, 99)).all().item<bool>());
}

// Stich et al., 2018, definition 2.1: ||x - topk(x)||^2 <= (1 - k/n) ||x||^2. Integers make both
// sides exact.
TEST(TopK, IsAContractionOfOneMinusItsDensity) {
  for (int seed = 0; seed < 50; ++seed) {
    at::manual_seed(static_cast<std::uint64_t>(seed));
    const std::int64_t n = 16 + 61 * seed;
    const at::Tensor x = at::randint(-9, 10, {n}, at::kFloat);
    for (const std::int64_t k : {std::int64_t{1}, n / 7 + 1, n / 2, n}) {
      const Selected out = topk(x, at::zeros_like(x), k);
      const auto squares = [](const at::Tensor& t) {
        return t.to(at::kLong).square().sum().item<std::int64_t>();
      };
      EXPECT_LE(n * squares(out.residual), (n - k) * squares(x)) << n << " " << k;
    }
  }
}

TEST(TopK, TakesTheFirstOfEqualMagnitudes) {
  const at::Tensor x = at::tensor({1.F, -2.F, 2.F, 3.F, -2.F, 2.F});
  const Selected out = topk(x, at::zeros_like(x), 3);
  EXPECT_TRUE(at::equal(out.places, at::tensor({1, 2, 3}, at::kInt)));
  EXPECT_TRUE(at::equal(out.values, at::tensor({-2.F, 2.F, 3.F})));
  EXPECT_TRUE(at::equal(out.residual, at::tensor({1.F, 0.F, 0.F, 0.F, -2.F, 2.F})));
  const at::Tensor zeros = at::zeros({5});
  EXPECT_TRUE(at::equal(topk(zeros, zeros, 2).places, at::tensor({0, 1}, at::kInt)));
}

// The places by a stable sort.
at::Tensor sorted_places(const at::Tensor& sums, std::int64_t k) {
  at::Tensor magnitudes = sums.abs();
  magnitudes.masked_fill_(magnitudes.isnan(), std::numeric_limits<float>::infinity());
  const at::Tensor order =
      std::get<1>(at::sort(magnitudes, /*stable=*/true, /*dim=*/0, /*descending=*/true));
  return std::get<0>(order.narrow(0, 0, k).sort()).to(at::kInt);
}

// Few of many are found above a bound that a sample of every eighth sum gives.
TEST(TopK, TakesTheSameOfManyAsASortDoes) {
  const std::int64_t n = (1 << 17) + 37;
  at::manual_seed(5);
  std::vector<at::Tensor> all{at::randn({n}),
                              at::randint(-9, 10, {n}, at::kFloat),  // many are equal
                              at::zeros({n}), at::full({n}, -1.F)};
  at::Tensor hidden = at::randn({n});  // fewer are large than the sample says
  for (std::int64_t place = 0; place < n / 16; place += 8) {
    hidden[place] = 100;
  }
  all.push_back(hidden);
  at::Tensor sparse = at::zeros({n});
  sparse.narrow(0, n - 5, 5).fill_(-3);
  all.push_back(sparse);
  at::Tensor no_numbers = at::randn({n});
  no_numbers.narrow(0, 777, 2).fill_(std::numeric_limits<float>::quiet_NaN());
  all.push_back(no_numbers);
  const at::Tensor before = at::randint(-3, 4, {n}, at::kFloat);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::int64_t k : {std::int64_t{1}, n / 1000, n / 32, n / 2}) {
      const at::Tensor residual = i < 3 ? before : at::zeros({n});
      const Selected out = topk(all[i], residual, k);
      const at::Tensor sums = residual + all[i];
      const at::Tensor places = sorted_places(sums, k);
      EXPECT_TRUE(at::equal(out.places, places)) << i << ", k " << k;
      EXPECT_TRUE(at::allclose(out.values, sums.index_select(0, places), 0, 0, /*equal_nan=*/true));
      EXPECT_TRUE(at::allclose(out.residual, sums.index_fill(0, places.to(at::kLong), 0), 0, 0,
                               /*equal_nan=*/true));
    }
  }
}

TEST(TopK, SendsWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor x = at::tensor({1.F, nan, 5.F, 4.F});
  const Selected out = topk(x, at::zeros_like(x), 2);
  EXPECT_TRUE(at::equal(out.places, at::tensor({1, 2}, at::kInt)));
  EXPECT_TRUE(std::isnan(out.values[0].item<float>()));
}

TEST(Scatter, AddsWhatRanksSentToTheSamePlace) {
  EXPECT_TRUE(
      at::equal(scattered(at::tensor({1.F, 2.F, 4.F, 8.F}), at::tensor({0, 3, 3, 1}, at::kInt), 5),
                at::tensor({1.F, 8.F, 0.F, 6.F, 0.F})));
  const at::Tensor sum = at::ones({3});
  run_scatter({}, call_of({}, {{sum}}));
  EXPECT_TRUE(at::equal(sum, at::zeros({3})));
}

at::Tensor signs_of(const at::Tensor& values) {
  const at::Tensor bits = at::zeros({values.numel() / 8}, at::kChar);
  run_sign({}, call_of({{values}}, {{bits}}));
  return bits;
}

TEST(Sign, PacksEightABytetheFirstLowest) {
  const at::Tensor values = at::tensor({1.F, -1.F, 0.F, -0.F, -2.F, -1.F, -1.F, 5.F, -1.F, -1.F,
                                        -1.F, -1.F, -1.F, -1.F, -1.F, -1.F});
  EXPECT_TRUE(at::equal(
      signs_of(values),
      at::tensor({static_cast<int>(static_cast<std::int8_t>(0b10001101)), 0}, at::kChar)));
}

TEST(Sign, ComesBackAsPlusOrMinusOne) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const at::Tensor values = random(4096, type, 4);
    const at::Tensor bits = signs_of(values);
    // A tensor may end within a byte.
    for (const std::int64_t n : {4096, 4091, 1}) {
      const at::Tensor out = at::zeros({n}, type);
      run_unsign({}, call_of({{bits.narrow(0, 0, (n + 7) / 8)}}, {{out}}));
      EXPECT_TRUE(at::equal(out, values.narrow(0, 0, n).ge(0).to(type) * 2 - 1));
    }
  }
}

struct ScaledSigns {
  at::Tensor wire, residual;
};

/// `borders`: begin and end of each tensor.
ScaledSigns ef_sign(const at::Tensor& gradients, const at::Tensor& residual,
                    const std::vector<double>& borders) {
  const auto tensors = static_cast<std::int64_t>(borders.size() / 2);
  ScaledSigns out{.wire = at::zeros({gradients.numel() / 8 + 4 * tensors}, at::kChar),
                  .residual = residual.clone()};
  Call call = call_of({{gradients}, {out.residual}}, {{out.wire}, {out.residual}});
  call.numbers = borders;
  run_ef_sign({}, call);
  return out;
}

at::Tensor summed(const at::Tensor& wires, const at::Tensor& into,
                  const std::vector<double>& borders) {
  Call call = call_of({{wires}}, {{into}});
  call.numbers = borders;
  run_ef_sign_sum({}, call);
  return into;
}

// Integers, of each tensor a mean magnitude that is one too: all is exact.
TEST_P(EveryType, ScaledSignsAndWhatStaysAreWhatThereWas) {
  // clang-format off
  const at::Tensor gradients = at::tensor(
      {3.F, -1.F, 2.F, -2.F, 0.F, 0.F, 8.F, -0.F,
       5.F, 1.F, -1.F, 1.F, 0.F, 0.F, 0.F, 0.F}).to(GetParam());
  // clang-format on
  const at::Tensor before = at::ones_like(gradients);
  before.narrow(0, 12, 4).zero_();  // padding
  const std::vector<double> borders{0, 8, 8, 12};
  const ScaledSigns out = ef_sign(gradients, before, borders);
  const at::Tensor crossed = summed(out.wire, at::zeros_like(gradients), borders);
  EXPECT_TRUE(at::equal(crossed + out.residual, gradients + before));
  // (4+0+3+1+1+1+9+1)/8 and (6+2+0+2)/4, and zero counts as +1.
  at::Tensor expected = at::full({16}, 2.5, gradients.options());
  expected[3] = -2.5;
  expected.narrow(0, 12, 4).zero_();
  EXPECT_TRUE(at::equal(crossed, expected));
}

// Karimireddy et al., 2019, lemma 8: ||x - D||^2 = ||x||^2 - ||x||_1^2 / d. With d a power of two
// all of it is exact.
TEST(EfSign, ContractsByTheSquareOfTheL1Norm) {
  for (int seed = 0; seed < 20; ++seed) {
    at::manual_seed(static_cast<std::uint64_t>(seed));
    const std::int64_t d = std::int64_t{16} << (seed % 8);
    const at::Tensor x = at::randint(-9, 10, {d}, at::kFloat);
    const ScaledSigns out = ef_sign(x, at::zeros_like(x), {0, static_cast<double>(d)});
    const auto squares = [](const at::Tensor& t) {
      return t.to(at::kDouble).square().sum().item<double>();
    };
    const double l1 = x.abs().sum(at::kDouble).item<double>();
    EXPECT_EQ(squares(out.residual), squares(x) - l1 * l1 / static_cast<double>(d)) << d;
  }
}

TEST(EfSign, AddsTheRanksInTheirOrder) {
  const std::vector<double> borders{0, 21, 32, 48};
  std::vector<at::Tensor> wires;
  at::Tensor expected = at::zeros({48});
  for (int rank = 0; rank < 3; ++rank) {
    const at::Tensor x = random(48, at::kFloat, 10 + rank);
    wires.push_back(ef_sign(x, at::zeros_like(x), borders).wire);
    expected += summed(wires.back(), at::zeros({48}), borders);
  }
  const at::Tensor sum = summed(at::cat(wires), at::zeros({48}), borders);
  EXPECT_TRUE(at::equal(sum, expected));
  EXPECT_TRUE(at::equal(sum.narrow(0, 21, 11), at::zeros({11}))) << "padding";
}

// Votes against a plain loop; copies lie side by side or apart.
TEST(Vote, IsTheSignOfTheSumOfSigns) {
  constexpr std::int64_t kBytes = 40;
  for (const int voters : {1, 2, 3, 4, 7, 200}) {
    at::manual_seed(static_cast<std::uint64_t>(voters));
    const at::Tensor all = at::randint(-128, 128, {voters * kBytes}, at::kChar);
    std::vector<std::int8_t> expected(kBytes, 0);
    for (std::int64_t bit = 0; bit < 8 * kBytes; ++bit) {
      int sum = 0;
      for (int voter = 0; voter < voters; ++voter) {
        const auto byte = static_cast<unsigned>(all[voter * kBytes + bit / 8].item<std::int8_t>());
        sum += ((byte >> (bit % 8)) & 1U) != 0 ? 1 : -1;
      }
      if (sum >= 0) {
        auto& byte = expected[static_cast<std::size_t>(bit / 8)];
        byte = static_cast<std::int8_t>(static_cast<unsigned>(byte) | 1U << (bit % 8));
      }
    }
    const at::Tensor wanted =
        at::tensor(std::vector<std::int64_t>(expected.begin(), expected.end()), at::kChar);
    const at::Tensor together = at::zeros({kBytes}, at::kChar);
    run_vote({}, call_of({{all}}, {{together}}));
    EXPECT_TRUE(at::equal(together, wanted)) << voters;
    std::vector<Operand> apart;
    for (const at::Tensor& one : all.split(kBytes)) {
      apart.push_back({one});
    }
    // As at a server, which is the first voter: its own signs are replaced.
    const at::Tensor own = apart.front().front();
    run_vote({}, call_of(apart, {{own}}));
    EXPECT_TRUE(at::equal(own, wanted)) << voters;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryType,
                         ::testing::Values(at::kFloat, at::kDouble, at::kBFloat16));

}  // namespace
}  // namespace paceline::runtime
