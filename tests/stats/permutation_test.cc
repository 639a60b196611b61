// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/permutation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/random.h"

namespace paceline::stats {
namespace {

constexpr double kExact = 1e-12;

std::vector<LabeledRun> pairs(const std::vector<std::vector<double>>& differences) {
  std::vector<LabeledRun> units;
  for (std::size_t block = 0; block < differences.size(); ++block) {
    const std::vector<double>& d = differences[block];
    units.push_back({block, true, d});
    units.push_back({block, false, std::vector<double>(d.size(), 0)});
  }
  return units;
}

std::vector<LabeledRun> two_groups(const std::vector<double>& base,
                                   const std::vector<double>& test) {
  std::vector<LabeledRun> units;
  for (const double value : base) {
    units.push_back({0, false, {value}});
  }
  for (const double value : test) {
    units.push_back({0, true, {value}});
  }
  return units;
}

/// The same with the middle rank of each value in its place.
std::vector<LabeledRun> ranked(std::vector<LabeledRun> units) {
  std::vector<double> sorted;
  for (const LabeledRun& unit : units) {
    sorted.push_back(unit.values[0]);
  }
  std::ranges::sort(sorted);
  for (LabeledRun& unit : units) {
    const auto equal = std::ranges::equal_range(sorted, unit.values[0]);
    unit.values[0] =
        static_cast<double>((equal.begin() - sorted.begin()) + (equal.end() - sorted.begin())) / 2;
  }
  return units;
}

// Independent of the code under test: every labelling of all units as a bit mask, kept where each
// block has as many tests as it really has; exact when the values are small multiples of 1/64.
struct BruteForce {
  std::vector<LabeledRun> units;

  bool fits(std::uint64_t mask) const {
    std::vector<int> balance(units.size(), 0);
    for (std::size_t i = 0; i < units.size(); ++i) {
      balance[units[i].block] += static_cast<int>(mask >> i & 1U) - (units[i].test ? 1 : 0);
    }
    return std::all_of(balance.begin(), balance.end(), [](int b) { return b == 0; });
  }

  std::uint64_t seen() const {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
      mask |= static_cast<std::uint64_t>(units[i].test) << i;
    }
    return mask;
  }

  // sum over tests of (value - mean of the block's known values).
  double sum(std::uint64_t mask, std::size_t c) const {
    double total = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if ((mask >> i & 1U) == 0 || std::isnan(units[i].values[c])) {
        continue;
      }
      double mean = 0;
      int known = 0;
      for (const LabeledRun& other : units) {
        if (other.block == units[i].block && !std::isnan(other.values[c])) {
          mean += other.values[c];
          ++known;
        }
      }
      total += units[i].values[c] - mean / known;
    }
    return total;
  }

  PermutationResult run() const {
    const std::size_t cases = units.front().values.size();
    std::vector<std::uint64_t> masks;
    for (std::uint64_t mask = 0; mask < 1ULL << units.size(); ++mask) {
      if (fits(mask)) {
        masks.push_back(mask);
      }
    }
    // The standard deviation over all arrangements, as it is defined.
    std::vector<double> sd(cases, 0);
    for (std::size_t c = 0; c < cases; ++c) {
      for (const std::uint64_t mask : masks) {
        sd[c] += std::pow(sum(mask, c), 2);
      }
      sd[c] = std::sqrt(sd[c] / static_cast<double>(masks.size()));
    }
    const auto z = [&](std::uint64_t mask, std::size_t c) {
      return sd[c] > 0 ? std::abs(sum(mask, c)) / sd[c] : 0;
    };
    PermutationResult result;
    result.p.assign(cases, 0);
    result.corrected_p.assign(cases, 0);
    const auto share = [&](auto holds) {
      return static_cast<double>(std::count_if(masks.begin(), masks.end(), holds)) /
             static_cast<double>(masks.size());
    };
    for (std::size_t c = 0; c < cases; ++c) {
      const double bar = z(seen(), c) - 1e-7;
      result.p[c] = share([&](std::uint64_t mask) { return z(mask, c) >= bar; });
    }
    // Step-down: the largest over the more significant cases and this one.
    for (std::size_t c = 0; c < cases; ++c) {
      for (std::size_t from = 0; from < cases; ++from) {
        const double bar = z(seen(), from);
        if (bar < z(seen(), c)) {
          continue;
        }
        const double p = share([&](std::uint64_t mask) {
          for (std::size_t other = 0; other < cases; ++other) {
            if (z(seen(), other) <= bar && z(mask, other) >= bar - 1e-7) {
              return true;
            }
          }
          return false;
        });
        result.corrected_p[c] = std::max(result.corrected_p[c], p);
      }
    }
    return result;
  }
};

void expect_as_brute_force(const std::vector<LabeledRun>& units) {
  const auto expected = BruteForce{units}.run();
  const auto result = permutation_test(units);
  EXPECT_TRUE(result.exact);
  for (std::size_t c = 0; c < expected.p.size(); ++c) {
    EXPECT_NEAR(result.p[c], expected.p[c], kExact) << c;
    EXPECT_NEAR(result.corrected_p[c], expected.corrected_p[c], kExact) << c;
  }
}

// Darwin's 15 pairs of maize plants (cross- less self-fertilized, in eighths
// of an inch).  Fisher, The Design of Experiments, 1935, section 21: 863 of
// the 32768 arrangements reach 314 in the seen direction, so 1726 in both.
TEST(Permutation, FishersCountForDarwinsMaize) {
  std::vector<std::vector<double>> differences;
  for (const double d : {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}) {
    differences.push_back({d});
  }
  const auto result = permutation_test(pairs(differences));
  EXPECT_EQ(result.arrangements, 32768);
  EXPECT_NEAR(result.p[0], 1726 / 32768.0, kExact);
  EXPECT_EQ(result.corrected_p, result.p);
}

// The whole U distribution of 5 + 5 is known by counting: the sum of ranks 1
// to 5 is the least of C(10, 5) = 252 sums, and 1, 2, 3, 4, 6 the next.
TEST(Permutation, RankSumsOfFiveAndFive) {
  EXPECT_NEAR(permutation_test(two_groups({6, 7, 8, 9, 10}, {1, 2, 3, 4, 5})).p[0], 2 / 252.0,
              kExact);
  EXPECT_NEAR(permutation_test(two_groups({5, 7, 8, 9, 10}, {1, 2, 3, 4, 6})).p[0], 4 / 252.0,
              kExact);
}

// The example in the documentation of benchstat (golang.org/x/perf/cmd/benchstat), nanoseconds of
// ten runs a side.  It ranks them, and prints p=0.446 for gob and p=0.000 for json.
TEST(Permutation, VerdictsOfBenchstatsExample) {
  const auto gob = two_groups({3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062},
                              {3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062});
  const auto json = two_groups({1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774},
                               {1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425});
  EXPECT_NEAR(permutation_test(ranked(gob)).p[0], 82420 / 184756.0, kExact);
  EXPECT_NEAR(permutation_test(ranked(json)).p[0], 2 / 184756.0, kExact);
  EXPECT_NEAR(permutation_test(json).p[0], 2 / 184756.0, kExact);
  EXPECT_GT(permutation_test(gob).p[0], 0.05);
}

// Mann and Whitney, Ann. Math. Statist. 18(1), 1947, table I: P(U <= u) for
// n = m = 5 in 252nds: 1 2 4 7 12 19 28 39 53 69 87 106 126.
TEST(Permutation, UDistributionOfMannAndWhitney) {
  const std::vector<int> counts{1, 2, 4, 7, 12, 19, 28, 39, 53, 69, 87, 106};
  for (int u = 0; u < 12; ++u) {
    // Moving the largest test rank up by one each time makes U one larger.
    std::vector<double> test{1, 2, 3, 4, 5};
    for (int step = 0; step < u; ++step) {
      for (std::size_t i = 5; i-- > 0;) {
        const double most = i == 4 ? 10 : test[i + 1] - 1;
        if (test[i] < most) {
          ++test[i];
          break;
        }
      }
    }
    std::vector<double> base;
    for (double rank = 1; rank <= 10; ++rank) {
      if (std::find(test.begin(), test.end(), rank) == test.end()) {
        base.push_back(rank);
      }
    }
    EXPECT_NEAR(permutation_test(two_groups(base, test)).p[0],
                2 * counts[static_cast<std::size_t>(u)] / 252.0, kExact)
        << u;
  }
}

TEST(Permutation, EqualsBruteForceOnPairsOfManyCases) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(1, seed);
    std::vector<std::vector<double>> differences(6);
    for (auto& block : differences) {
      const double shared = random.normal();
      for (int c = 0; c < 4; ++c) {
        // Coarse, so that there are ties between arrangements and cases.
        block.push_back(std::round((shared + 2 * random.normal() + c) * 2) / 4);
      }
    }
    SCOPED_TRACE(seed);
    expect_as_brute_force(pairs(differences));
  }
}

TEST(Permutation, EqualsBruteForceOnUnequalBlocksWithHoles) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(2, seed);
    std::vector<LabeledRun> units;
    for (int i = 0; i < 13; ++i) {
      LabeledRun unit{random.below(3), random.below(2) == 1, {}};
      for (int c = 0; c < 3; ++c) {
        unit.values.push_back(random.below(6) == 0 ? kNoValue
                                                   : 4 + std::round(random.normal() * 16) / 64);
      }
      units.push_back(unit);
    }
    SCOPED_TRACE(seed);
    expect_as_brute_force(units);
  }
}

TEST(Permutation, NothingIsSignificantWhereNothingVaries) {
  const auto result = permutation_test(pairs({{0}, {0}, {0}, {0}, {0}, {0}}));
  EXPECT_EQ(result.p[0], 1);
  EXPECT_EQ(permutation_test({}).p.size(), 0u);
  EXPECT_EQ(permutation_test(pairs({{1, 2}})).p, (std::vector<double>{1, 1}));
}

TEST(Permutation, DrawsAgreeWithCounting) {
  std::vector<std::vector<double>> differences;
  Random random(3);
  for (int block = 0; block < 12; ++block) {
    differences.push_back({0.6 + random.normal(), 0.3 + random.normal()});
  }
  const auto units = pairs(differences);
  const auto exact = permutation_test(units);
  const auto drawn = permutation_test(units, {.most_arrangements = 100, .seed = 7});
  EXPECT_FALSE(drawn.exact);
  EXPECT_EQ(drawn.arrangements, 4096);
  for (std::size_t c = 0; c < 2; ++c) {
    // 5 standard deviations of a share of 99,999 draws.
    EXPECT_NEAR(drawn.p[c], exact.p[c], 0.008);
    EXPECT_NEAR(drawn.corrected_p[c], exact.corrected_p[c], 0.008);
  }
  EXPECT_EQ(permutation_test(units, {.most_arrangements = 100, .seed = 7}).p, drawn.p);
}

TEST(Permutation, ADrawnPIsNeverZero) {
  const std::vector<std::vector<double>> differences(40, {1.0});
  const auto result = permutation_test(pairs(differences), {.draws = 999});
  EXPECT_NEAR(result.p[0], 0.001, kExact);
}

TEST(Permutation, FewestRunsAreTheFirstThatReachTheLevel) {
  EXPECT_EQ(fewest_runs(0.05, true), 6u);   // 2 / 2^6 = 0.03
  EXPECT_EQ(fewest_runs(0.05, false), 4u);  // 2 / C(8, 4) = 0.029
  EXPECT_EQ(smallest_p(5, true), 0.0625);
  EXPECT_EQ(smallest_p(3, false), 0.1);
  for (std::size_t runs = 1; runs < 8; ++runs) {
    const std::vector<std::vector<double>> differences(runs, {1.0});
    EXPECT_NEAR(permutation_test(pairs(differences)).p[0], smallest_p(runs, true), kExact);
  }
}

TEST(Permutation, RunsForPowerGrowWithScatter) {
  EXPECT_EQ(runs_for_power(0, 0.01), 6u);
  EXPECT_EQ(runs_for_power(0, 0.01, 10), 9u);  // 2 / 2^9 < 0.005
  // (1.959964 + 1.281552)^2 pi / 3 = 11.0033 and 1.959964^2 / 2 = 1.92.
  EXPECT_EQ(runs_for_power(0.01, 0.01), 13u);
  EXPECT_EQ(runs_for_power(0.01, -0.01), 13u);
  EXPECT_EQ(runs_for_power(0.02, 0.01), 46u);
}

}  // namespace
}  // namespace paceline::stats
