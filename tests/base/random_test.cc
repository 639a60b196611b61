// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/random.h"

#include <cmath>
#include <map>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace paceline {
namespace {

using Block = std::array<std::uint32_t, 4>;

// The known answers that the Random123 distribution publishes for 10 rounds.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsAFunctionOfSeedStreamAndPosition) {
  Random forward(7, 3);
  std::vector<std::uint64_t> expected;
  for (int i = 0; i < 9; ++i) {
    expected.push_back(forward());
  }
  Random again(7, 3);
  for (std::uint64_t i = 9; i-- > 0;) {
    again.seek(i);
    EXPECT_EQ(again(), expected[i]) << i;
  }
}

TEST(Random, FillsWithTheNumbersThatComeNext) {
  for (std::uint64_t from = 0; from < 3; ++from) {
    for (std::size_t count = 0; count < 6; ++count) {
      Random one_by_one(7, 3);
      one_by_one.seek(from);
      Random at_once = one_by_one;
      std::vector<std::uint64_t> numbers(count);
      at_once.fill(numbers);
      for (const std::uint64_t number : numbers) {
        EXPECT_EQ(number, one_by_one());
      }
      EXPECT_EQ(at_once(), one_by_one()) << count << " from " << from;
    }
  }
}

TEST(Random, StartsWithTheBlockOfItsSeed) {
  Random zero(0);
  EXPECT_EQ(zero(), 0xe169c58d6627e8d5U);
  EXPECT_EQ(zero(), 0x9b00dbd8bc57ac4cU);
}

TEST(Random, DiffersBetweenSeedsAndStreams) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t stream = 0; stream < 20; ++stream) {
      seen.insert(Random(seed, stream)());
    }
  }
  EXPECT_EQ(seen.size(), 400U);
}

TEST(Random, BelowIsUniformOverABoundThatDividesNothing) {
  constexpr int kDraws = 70'000;
  Random random(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < kDraws; ++i) {
    ++counts.at(random.below(counts.size()));
  }
  // 5 standard deviations of a binomial count.
  for (const int count : counts) {
    EXPECT_NEAR(count, kDraws / 7.0, 5 * std::sqrt(kDraws * 6.0 / 49));
  }
  EXPECT_EQ(random.below(1), 0U);
}

// With bound 3 * 2^62 a quarter of the plain products would be biased: a third of the results must
// fall below 2^62 nevertheless.
TEST(Random, BelowHasNoBiasForLargeBounds) {
  constexpr int kDraws = 60'000;
  constexpr std::uint64_t kUnit = std::uint64_t{1} << 62;
  Random random(2);
  int lowest = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t value = random.below(3 * kUnit);
    ASSERT_LT(value, 3 * kUnit);
    lowest += value < kUnit ? 1 : 0;
  }
  EXPECT_NEAR(lowest, kDraws / 3.0, 5 * std::sqrt(kDraws * 2.0 / 9));
}

TEST(Random, ShuffledOrdersAreEquallyLikely) {
  constexpr int kDraws = 12'000;
  Random random(4);
  std::map<std::vector<int>, int> counts;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<int> values{1, 2, 3};
    shuffle(std::span(values), random);
    ++counts[values];
  }
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [order, count] : counts) {
    EXPECT_NEAR(count, kDraws / 6.0, 5 * std::sqrt(kDraws * 5.0 / 36));
  }
  std::vector<int> none;
  shuffle(std::span(none), random);
}

TEST(Random, UniformStaysInsideItsRangeAndNormalHasItsMoments) {
  constexpr int kDraws = 40'000;
  Random random(3);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double unit = random.uniform();
    ASSERT_GE(unit, 0);
    ASSERT_LT(unit, 1);
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
}

}  // namespace
}  // namespace paceline
