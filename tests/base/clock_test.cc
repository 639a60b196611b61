// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/clock.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

using std::chrono::nanoseconds;

/// A clock that moves only when it is told to.
class FakeClock {
 public:
  nanoseconds now() const { return now_; }
  void advance(nanoseconds by) { now_ += by; }

 private:
  nanoseconds now_{0};
};

TEST(Stopwatch, MeasuresWhatTheClockMoved) {
  FakeClock clock;
  clock.advance(nanoseconds(100));
  const Stopwatch stopwatch(clock);
  EXPECT_EQ(stopwatch.elapsed_ns(), 0);
  clock.advance(nanoseconds(42));
  EXPECT_EQ(stopwatch.elapsed_ns(), 42);
}

TEST(Stopwatch, LapsAddUpToTheWhole) {
  FakeClock clock;
  const Stopwatch whole(clock);
  Stopwatch laps(clock);
  nanoseconds sum{0};
  for (const int step : {3, 5, 7}) {
    clock.advance(nanoseconds(step));
    const nanoseconds lap = laps.lap();
    EXPECT_EQ(lap, nanoseconds(step));
    sum += lap;
  }
  EXPECT_EQ(sum, whole.elapsed());
}

TEST(SteadyClock, NeverGoesBack) {
  std::int64_t last = steady_ns();
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t now = steady_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ClockCost, IsAPositiveNumberOfNanoseconds) {
  EXPECT_GT(clock_cost_ns(), 0);
}

}  // namespace
}  // namespace paceline
