// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/search.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace paceline::validate {
namespace {

/// 50, told in steps of 5 %: flat almost everywhere.
TEST(Search, WalksAcrossJumps) {
  stats::FitProblem stairs;
  stairs.residuals = 1;
  stairs.residual = [](std::size_t, const std::vector<double>& at) {
    return std::round(std::log(at[0] / 50) * 20) / 20;
  };
  stairs.depends = [](std::size_t, std::size_t) { return true; };
  EXPECT_NEAR(search(stairs, {{44}})[0] / 50, 1, 0.026);
}

TEST(Search, TakesTheBestOfItsStarts) {
  stats::FitProblem two;  // valleys at 1, which is deeper, and at 100
  two.residuals = 1;
  two.residual = [](std::size_t, const std::vector<double>& at) {
    const double log = std::log10(at[0]);
    return std::min(std::abs(log), 0.3 + std::abs(log - 2));
  };
  two.depends = [](std::size_t, std::size_t) { return true; };
  EXPECT_GT(search(two, {{20}})[0], 50);
  EXPECT_NEAR(search(two, {{20}, {3}})[0], 1, 0.05);
}

TEST(Search, StaysNearItsFirstStart) {
  stats::FitProblem downhill;
  downhill.residuals = 1;
  downhill.residual = [](std::size_t, const std::vector<double>& at) {
    return 1 / at[0];
  };
  downhill.depends = [](std::size_t, std::size_t) { return true; };
  EXPECT_LE(search(downhill, {{1}})[0], SearchOptions{}.furthest);
}

}  // namespace
}  // namespace paceline::validate
