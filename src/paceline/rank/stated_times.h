// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace paceline::rank {

// Note [Times and the clock]
// A program says how long its steps took; Paceline knows when it started the program and when each
// line arrived. Both are of one loop:
//
// - Steps that follow one another cannot take longer than the time in which
//   they ran. More is an error, whatever the program is: all steps against the
//   time since the program was started, and, where lines arrive one by one,
//   those of the window against the time between the first and the last line.
// - Steps may take less. What is between them (loading data, logging) belongs
//   to the loop and not to the timed part, and only an adapter promises that
//   its times leave nothing out. There it is an error; else it is a remark.
//
// A line may arrive late, never early: output is buffered, and launchers read files now and then.
// Lines arrive one by one where most intervals between them are alike. Where they come in bursts,
// only the first bound holds.

/// A line that says how long its steps took.
struct TimedLine {
  std::int64_t arrived_ns = 0;
  double stated_ns = 0, low_ns = 0, high_ns = 0;  // of all its steps
};

/// A line that says how many steps were done when it was written.
struct DoneLine {
  std::int64_t arrived_ns = 0;
  int done = 0;
};

/// One rank's output, in order.
struct StatedTimes {
  std::span<const TimedLine> lines;
  std::size_t first = 0;      // line of the window
  std::size_t count = 0;      // of its lines
  std::int64_t began_ns = 0;  // when the program was started
  bool leaves_nothing_out = false;
  bool in_ns = false;  // events that say step_ns, not step_s
  /// Of an adapter, whose lines of steps may come after the window.
  std::span<const DoneLine> progress = {};
  int warmup = 0;  // steps before the first line of an adapter
};

/// How stated times and the clock differ.
struct ClockDifference {
  enum class Kind {
    kLongerThanRun,  // than the whole program
    kLonger,         // than the time between lines
    kShorter,        // and nothing may be left out
    kFarShorter,     // less than an eighth
    kLeavesOut,      // less, which may be
    kRounded         // within the digits that are printed
  };
  Kind kind{};
  std::span<const TimedLine> lines;  // that were added
  double stated_ns = 0;              // their sum
  double clock_ns = 0;               // what the clock says of them
};

/// The first difference of more than the noise of arrivals, errors first.
std::optional<ClockDifference> compare_with_clock(const StatedTimes& times);

}  // namespace paceline::rank
