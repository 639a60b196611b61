// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/fit.h"

#include <cmath>

#include <gtest/gtest.h>

namespace paceline::stats {
namespace {

FitProblem alpha_beta(const std::vector<double>& sizes,
                      const std::vector<double>& times) {
  FitProblem problem;
  problem.residuals = sizes.size();
  problem.residual = [=](std::size_t i, const std::vector<double>& at) {
    return std::log((at[0] + at[1] * sizes[i]) / times[i]);
  };
  return problem;
}

TEST(Fit, FindsWhatMadeTheData) {
  std::vector<double> sizes, times;
  for (double size = 1; size < 1e5; size *= 3) {
    sizes.push_back(size);
    times.push_back(50 + 0.2 * size);
  }
  const auto found = fit(alpha_beta(sizes, times), {10, 1});
  EXPECT_NEAR(found[0], 50, 0.01);
  EXPECT_NEAR(found[1], 0.2, 1e-4);
}

TEST(Fit, IsBentLittleByOneWildNumber) {
  std::vector<double> sizes, times;
  for (double size = 1; size < 1e5; size *= 1.5) {
    sizes.push_back(size);
    times.push_back(50 + 0.2 * size);
  }
  times[5] *= 4;
  const auto found = fit(alpha_beta(sizes, times), {10, 1});
  EXPECT_NEAR(found[0], 50, 1);
  EXPECT_NEAR(found[1], 0.2, 0.004);
}

}  // namespace
}  // namespace paceline::stats
