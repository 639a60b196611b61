// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/stated_times.h"

#include <algorithm>

namespace paceline::rank {
namespace {

using Kind = ClockDifference::Kind;

// Arrivals may be late by the scheduler's time slices, which a busy machine makes long; their
// differences are trusted to this and a share.
constexpr double kSlackNs = 50e6;
constexpr double kShare = 1.1;
// Of what an adapter leaves out: the first and the last line are not written exactly when the
// window begins and ends.
constexpr double kAdapterSlackNs = 150e6, kAdapterShare = 1.25;
constexpr double kFar = 8;
// The program's clock may be another one, and run at another speed.
constexpr double kRunSlackNs = 10e6, kRunShare = 1.01;
// Closer lines than this were not written when their steps ended.
constexpr double kLeastIntervalNs = 1e6;
constexpr std::size_t kLeastIntervals = 3;
constexpr double kAlike = 4;  // a tenth of the intervals may be below

struct Sums {
  double stated = 0, low = 0, high = 0;

  void add(const TimedLine& line) {
    stated += line.stated_ns;
    low += line.low_ns;
    high += line.high_ns;
  }
};

Sums sums_of(std::span<const TimedLine> lines) {
  Sums sums;
  for (const TimedLine& line : lines) {
    sums.add(line);
  }
  return sums;
}

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

bool come_one_by_one(const std::vector<double>& intervals) {
  if (intervals.size() < kLeastIntervals) {
    return false;
  }
  const double median = quantile(intervals, 0.5);
  return median >= kLeastIntervalNs && quantile(intervals, 0.1) >= median / kAlike;
}

std::optional<ClockDifference> longer_than_run(const StatedTimes& times) {
  const auto lines = times.lines.first(times.first + times.count);
  const Sums sums = sums_of(lines);
  const auto run = static_cast<double>(lines.back().arrived_ns - times.began_ns);
  if (sums.low <= kRunShare * run + kRunSlackNs) {
    return std::nullopt;
  }
  return ClockDifference{Kind::kLongerThanRun, lines, sums.stated, run};
}

/// The lines of the window whose begin is known, against their intervals.
std::optional<ClockDifference> differs_by_line(const StatedTimes& times) {
  const std::size_t first = std::max<std::size_t>(times.first, 1);
  const std::size_t end = times.first + times.count;
  if (end <= first) {
    return std::nullopt;
  }
  const auto lines = times.lines.subspan(first, end - first);
  std::vector<double> intervals, against_low, against_high;
  std::int64_t before = times.lines[first - 1].arrived_ns;
  for (const TimedLine& line : lines) {
    intervals.push_back(static_cast<double>(line.arrived_ns - before));
    against_low.push_back(intervals.back() / std::max(1.0, line.low_ns));
    against_high.push_back(intervals.back() / std::max(1.0, line.high_ns));
    before = line.arrived_ns;
  }
  if (!come_one_by_one(intervals)) {
    return std::nullopt;
  }
  const Sums sums = sums_of(lines);
  const auto clock =
      static_cast<double>(lines.back().arrived_ns - times.lines[first - 1].arrived_ns);
  const auto found = [&](Kind kind) { return ClockDifference{kind, lines, sums.stated, clock}; };
  // Late lines move the sum, pauses and ticks of a launcher the median.
  const double median_low = quantile(against_low, 0.5);
  const double median_high = quantile(against_high, 0.5);
  const auto shorter = [&](double share, double slack) {
    return clock > share * sums.high + slack && median_high > share;
  };
  if (sums.low > kShare * clock + kSlackNs && median_low < 1 / kShare) {
    return found(Kind::kLonger);
  }
  if (times.leaves_nothing_out && shorter(kAdapterShare, kAdapterSlackNs)) {
    return found(Kind::kShorter);
  }
  if (shorter(kFar, kSlackNs)) {
    return found(Kind::kFarShorter);
  }
  if (shorter(kShare, kSlackNs)) {
    return found(Kind::kLeavesOut);
  }
  if (sums.stated > kShare * clock + kSlackNs) {
    return found(Kind::kRounded);
  }
  return std::nullopt;
}

/// The steps of an adapter after a line of progress, against the time until
/// the last line of a step.
std::optional<ClockDifference> differs_by_progress(const StatedTimes& times) {
  const std::int64_t end = times.lines.back().arrived_ns;
  for (const DoneLine& line : times.progress) {
    const int inside = line.done - times.warmup;
    const auto after =
        static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(inside, 0, std::ssize(times.lines)));
    const auto lines = times.lines.subspan(after);
    if (lines.empty()) {
      continue;
    }
    const Sums sums = sums_of(lines);
    const auto clock = static_cast<double>(end - line.arrived_ns);
    if (sums.low > kShare * clock + kAdapterSlackNs) {
      return ClockDifference{Kind::kLonger, lines, sums.stated, clock};
    }
    // Before the window the length of steps is not known.
    if (inside >= 0 && clock > kAdapterShare * sums.high + kAdapterSlackNs) {
      return ClockDifference{Kind::kShorter, lines, sums.stated, clock};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ClockDifference> compare_with_clock(const StatedTimes& times) {
  if (times.count == 0) {
    return std::nullopt;
  }
  auto by_line = differs_by_line(times);
  if (by_line && by_line->kind == Kind::kLonger) {
    return by_line;
  }
  if (times.leaves_nothing_out) {
    if (auto found = differs_by_progress(times)) {
      return found;
    }
  }
  if (auto found = longer_than_run(times)) {
    return found;
  }
  return by_line;
}

}  // namespace paceline::rank
