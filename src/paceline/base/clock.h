// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace paceline {

/// Returns the time of the machine's monotonic clock since an unspecified start.  Times of two
/// machines, or of two boots, must not be compared.
std::chrono::nanoseconds steady_now();

/// Returns steady_now() as a plain number, for vectors of samples.
std::int64_t steady_ns();

inline double to_seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

inline std::chrono::milliseconds to_milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// Sleeps until `steady_ns()` has reached `until_ns`.  Reduces the thread's timer slack for good,
/// so that the kernel does not delay wake-ups by 50 us.
void sleep_until_ns(std::int64_t until_ns);

/// Returns the median cost of one `steady_ns()` call on this machine, in nanoseconds, over
/// `batches` batches of 1000 calls.  A batch takes about 30 us.
double clock_cost_ns(int batches = 11);

/// Measures the time since its construction.
class Stopwatch {
 public:
  std::chrono::nanoseconds elapsed() const { return steady_now() - start_; }
  std::int64_t elapsed_ns() const { return elapsed().count(); }

 private:
  std::chrono::nanoseconds start_ = steady_now();
};

/// Returns the current time to the second, in the format of records: "2026-01-31T17:45:00Z".
std::string utc_now();

}  // namespace paceline
