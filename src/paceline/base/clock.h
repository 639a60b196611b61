// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace paceline {

/// The machine's monotonic clock, since an unspecified start.  Times of two machines, or of two
/// boots, must not be compared.
std::chrono::nanoseconds steady_now();

/// The same as a plain number, for sample vectors.
std::int64_t steady_ns();

inline double to_seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

inline std::chrono::milliseconds to_milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// Sleeps until `steady_ns()` has reached `until_ns`, without the 50 us by which the kernel is
/// otherwise late to save wake-ups (the thread keeps that).
void sleep_until_ns(std::int64_t until_ns);

/// Median cost of one `steady_ns()` call on this machine, in nanoseconds, from
/// `batches` batches of 1000 calls.  Takes about 30 us a batch.
double clock_cost_ns(int batches = 11);

/// Time since construction.
class Stopwatch {
 public:
  std::chrono::nanoseconds elapsed() const { return steady_now() - start_; }
  std::int64_t elapsed_ns() const { return elapsed().count(); }

 private:
  std::chrono::nanoseconds start_ = steady_now();
};

/// The time now, to the second, as records have it: "2026-01-31T17:45:00Z".
std::string utc_now();

}  // namespace paceline
