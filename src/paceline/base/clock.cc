// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/clock.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/scheduling.h"

namespace paceline {

std::chrono::nanoseconds steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

std::int64_t steady_ns() { return steady_now().count(); }

void sleep_until_ns(std::int64_t until_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  tighten_timer_slack();
  const timespec until{.tv_sec = until_ns / kSecond, .tv_nsec = until_ns % kSecond};
  while (steady_ns() < until_ns) {  // a signal may interrupt the sleep
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
}

double clock_cost_ns(int batches) {
  PACELINE_CHECK(batches > 0);
  constexpr int kCalls = 1000;
  std::vector<double> costs;
  for (int batch = 0; batch < batches; ++batch) {
    const std::int64_t start = steady_ns();
    std::int64_t last = start;
    for (int call = 0; call < kCalls; ++call) {
      last = steady_ns();
    }
    costs.push_back(static_cast<double>(last - start) / kCalls);
  }
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2);
  std::nth_element(costs.begin(), middle, costs.end());
  return *middle;
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace paceline
