// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>

namespace paceline {

/// Something that tells a time that never goes back.  Code that measures takes
/// its clock as a template parameter, so that tests pass one that they move.
template <typename T>
concept Clock = requires(const T& clock) {
  { clock.now() } -> std::same_as<std::chrono::nanoseconds>;
};

/// The machine's monotonic clock, since an unspecified start.  Times of two
/// machines, or of two boots, must not be compared.
class SteadyClock {
 public:
  std::chrono::nanoseconds now() const;
};

inline constexpr SteadyClock kSteadyClock{};

inline double to_seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

inline std::chrono::milliseconds to_milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// `kSteadyClock.now()` as a plain number, for sample vectors.
std::int64_t steady_ns();

/// Sleeps until `steady_ns()` has reached `until_ns`, without the 50 us by
/// which the kernel is otherwise late to save wake-ups (the thread keeps that).
void sleep_until_ns(std::int64_t until_ns);

/// Median cost of one `steady_ns()` call on this machine, in nanoseconds, from
/// `batches` batches of 1000 calls.  Takes about 30 us a batch.
double clock_cost_ns(int batches = 11);

/// Time since construction, or since the last `lap()`.  The clock must outlive
/// the stopwatch.
template <Clock C = SteadyClock>
class Stopwatch {
 public:
  Stopwatch() requires std::same_as<C, SteadyClock> : Stopwatch(kSteadyClock) {}
  explicit Stopwatch(const C& clock) : clock_(&clock), start_(clock.now()) {}

  std::chrono::nanoseconds elapsed() const { return clock_->now() - start_; }
  std::int64_t elapsed_ns() const { return elapsed().count(); }

  /// The time since the last lap; the next lap starts at the very same
  /// instant, so laps add up to the whole.
  std::chrono::nanoseconds lap() {
    const auto now = clock_->now();
    const auto passed = now - start_;
    start_ = now;
    return passed;
  }

 private:
  const C* clock_;
  std::chrono::nanoseconds start_;
};

}  // namespace paceline
