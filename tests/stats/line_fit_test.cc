// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/line_fit.h"

#include <random>

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::stats {
namespace {

std::vector<SizedTime> doubling(double first, double last, double (*time)(double bytes)) {
  std::vector<SizedTime> points;
  for (double bytes = first; bytes <= last; bytes *= 2) {
    points.push_back({bytes, time(bytes)});
  }
  return points;
}

TEST(LineFit, FindsOneExactLine) {
  const auto points = doubling(4, 1 << 28, [](double b) { return 50e-6 + 1.25e-9 * b; });
  const LineFit fit = fit_line(points);
  ASSERT_EQ(fit.pieces.size(), 1U);
  EXPECT_EQ(fit.pieces[0].from_bytes, 0);
  EXPECT_NEAR(fit.pieces[0].alpha_s, 50e-6, 1e-12);
  EXPECT_NEAR(fit.pieces[0].beta_s_per_byte, 1.25e-9, 1e-17);
  EXPECT_LT(fit.mean_error, 3e-11);
}

TEST(LineFit, FindsThreePiecesAndTheirBorders) {
  const auto points = doubling(4, 1 << 28, [](double b) {
    return b < 8192 ? 20e-6 + 4e-9 * b : b < 1048576 ? 90e-6 + 2e-9 * b : 900e-6 + 0.8e-9 * b;
  });
  const LineFit fit = fit_line(points);
  ASSERT_EQ(fit.pieces.size(), 3U);
  EXPECT_EQ(fit.pieces[1].from_bytes, 8192);
  EXPECT_EQ(fit.pieces[2].from_bytes, 1048576);
  EXPECT_NEAR(fit.pieces[0].alpha_s, 20e-6, 1e-10);
  EXPECT_NEAR(fit.pieces[1].alpha_s, 90e-6, 1e-10);
  EXPECT_NEAR(fit.pieces[2].alpha_s, 900e-6, 1e-9);
  EXPECT_NEAR(fit.pieces[2].beta_s_per_byte, 0.8e-9, 1e-15);
  EXPECT_LT(fit.mean_error, 3e-8);
}

TEST(LineFit, NoiseIsReportedAsErrorAndNotAsPieces) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(1.0, 0.05);
  std::vector<SizedTime> points;
  for (double bytes = 4; bytes <= 1 << 28; bytes *= 2) {
    for (int i = 0; i < 3; ++i) {
      points.push_back({bytes, (100e-6 + 1e-9 * bytes) * noise(random)});
    }
  }
  const LineFit fit = fit_line(points);
  EXPECT_EQ(fit.pieces.size(), 1U);
  EXPECT_NEAR(fit.pieces[0].alpha_s, 100e-6, 3e-6);
  EXPECT_NEAR(fit.pieces[0].beta_s_per_byte, 1e-9, 3e-11);
  EXPECT_NEAR(fit.mean_error, 0.04, 0.015);  // 0.05 * sqrt(2 / pi)
}

TEST(LineFit, NeverHasNegativeCoefficients) {
  // Falling times, and a line that would start below zero.
  const std::vector<SizedTime> falling{{1, 3e-6}, {2, 2e-6}, {4, 1e-6}};
  const LineFit flat = fit_line(falling);
  ASSERT_EQ(flat.pieces.size(), 1U);
  EXPECT_EQ(flat.pieces[0].beta_s_per_byte, 0);
  EXPECT_GT(flat.pieces[0].alpha_s, 0);
  const std::vector<SizedTime> steep{{100, 1e-6}, {200, 3e-6}, {300, 5e-6}};
  const LineFit through_zero = fit_line(steep);
  EXPECT_EQ(through_zero.pieces[0].alpha_s, 0);
  EXPECT_GT(through_zero.pieces[0].beta_s_per_byte, 0);
}

TEST(LineFit, RejectsWhatNoLineGoesThrough) {
  const std::vector<SizedTime> one{{4, 1e-6}};
  EXPECT_THROW(fit_line(one), UsageError);
  const std::vector<SizedTime> zero{{4, 1e-6}, {8, 0}};
  EXPECT_THROW(fit_line(zero), UsageError);
}

}  // namespace
}  // namespace paceline::stats
