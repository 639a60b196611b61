// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/prior_fit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::stats {
namespace {

// x = 3 +- 1 measured, x = 0 +- 2 before: the weighted mean is 3 * 4 / 5.
TEST(PriorFit, IsTheWeightedMeanOfOneMeasurement) {
  const PriorFit fit = fit_with_priors(
      [](const std::vector<double>& x) { return std::vector<double>{x[0] - 3}; }, {2}, {0});
  EXPECT_NEAR(fit.at[0], 2.4, 1e-6);
  EXPECT_NEAR(fit.covariance[0][0], 0.8, 1e-6);
  EXPECT_NEAR(fit.influence[0][0], 0.8, 1e-6);
}

// How sure the unknown would be follows from the slope alone: 1 / (1 + 1/4), whatever was measured.
TEST(PriorFit, ThePosteriorFollowsFromTheDesign) {
  for (const double measured : {3.0, -40.0}) {
    const PriorFit fit = posterior_at(
        [&](const std::vector<double>& x) { return std::vector<double>{x[0] - measured}; }, {2},
        {1.5});
    EXPECT_EQ(fit.at[0], 1.5);
    EXPECT_NEAR(fit.covariance[0][0], 0.8, 1e-6);
    EXPECT_NEAR(fit.influence[0][0], 0.8, 1e-6);
  }
}

TEST(PriorFit, KeepsWhatNothingDependsOn) {
  const PriorFit fit = fit_with_priors(
      [](const std::vector<double>& x) { return std::vector<double>{(std::exp(x[0]) - 5) / 1e-4}; },
      {10, 0.5}, {0, 0});
  EXPECT_NEAR(fit.at[0], std::log(5), 1e-6);
  EXPECT_EQ(fit.at[1], 0);
  EXPECT_NEAR(fit.covariance[1][1], 0.25, 1e-12);
  EXPECT_EQ(fit.influence[1][0], 0);
}

// The first trial goes where the model has no value.
TEST(PriorFit, StepsBackWhereTheModelHasNoValue) {
  const PriorFit fit = fit_with_priors(
      [](const std::vector<double>& x) {
        if (x[0] > 2.5) {
          throw UsageError("too large");
        }
        return std::vector<double>{(std::log1p(x[0]) - std::log(3)) / 1e-3};
      },
      {100}, {0});
  EXPECT_NEAR(fit.at[0], 2, 1e-4);
}

// The first unknown would be 3 and the second 0; at its end the first leaves the second to explain
// the measurement.
TEST(PriorFit, KeepsUnknownsBelowTheirEnds) {
  const auto residuals = [](const std::vector<double>& x) {
    return std::vector<double>{(x[0] + x[1] - 3) / 1e-3};
  };
  const PriorFit free = fit_with_priors(residuals, {100, 1}, {0, 0});
  EXPECT_NEAR(free.at[0], 3, 1e-3);
  const PriorFit bounded = fit_with_priors(residuals, {100, 1}, {0, 0}, {1, 100});
  EXPECT_EQ(bounded.at[0], 1);
  EXPECT_NEAR(bounded.at[1], 2, 1e-3);
}

}  // namespace
}  // namespace paceline::stats
