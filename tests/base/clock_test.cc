// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/clock.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(Stopwatch, MeasuresWhatTheClockMoved) {
  const std::int64_t before = steady_ns();
  const Stopwatch stopwatch;
  const std::int64_t began = steady_ns();
  sleep_until_ns(began + 1'000'000);
  const std::int64_t least = steady_ns() - began;
  const std::int64_t elapsed = stopwatch.elapsed_ns();
  EXPECT_GE(elapsed, least);
  EXPECT_LE(elapsed, steady_ns() - before);
}

TEST(SteadyClock, NeverGoesBack) {
  std::int64_t last = steady_ns();
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t now = steady_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ClockCost, IsAPositiveNumberOfNanoseconds) { EXPECT_GT(clock_cost_ns(), 0); }

}  // namespace
}  // namespace paceline
