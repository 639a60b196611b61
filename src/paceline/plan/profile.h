// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

struct ModelShape;  // plan/plan_input.h

/// Durations and simulated times.  They are integers, so that sums are exact in any order.
using Picoseconds = std::int64_t;

inline constexpr Picoseconds kPicosecondsPerNanosecond = 1'000;
inline constexpr Picoseconds kPicosecondsPerSecond = 1'000'000'000'000;

/// Rounds to the nearest picosecond.  A negative time is a bug.  Throws UsageError beyond the end
/// of virtual time, after 53 days.
Picoseconds picoseconds_of(double seconds);

inline double seconds_of(Picoseconds time) { return static_cast<double>(time) * 1e-12; }

inline double milliseconds_of(Picoseconds time) { return seconds_of(time) * 1e3; }

/// How long one rank computes each part of a micro-batch without communication, layer by layer. The
/// parts follow each other without gaps, so they sum to the time from the start of forward to the
/// last gradient.
struct LayerProfile {
  std::string origin;  // who measured the times on which hardware, for messages

  /// By ModuleId: the time from entering the module's gate to entering the next gate.  That of the
  /// last module lasts until backward starts, so it contains the loss.
  std::vector<Picoseconds> forward;

  /// By ParameterId: the time from the previous gradient in ready order (for the first one: from
  /// the start of backward) until this gradient is final.
  std::vector<Picoseconds> backward;

  Picoseconds forward_total() const;
  Picoseconds backward_total() const;
};

/// Throws UsageError unless the profile has one time per module and per parameter of the model, and
/// no time is negative.
void check_profile(const ModelShape& model, const LayerProfile& profile);

/// The times at which gradients are final, in ready order, counted from the start of backward.
std::vector<Picoseconds> ready_times(const ModelShape& model, const LayerProfile& profile);

}  // namespace paceline::plan
