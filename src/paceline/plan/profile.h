// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

struct ModelShape;  // plan/plan_input.h

/// Durations of plans and of virtual time: whole, so that sums are exact in
/// any order.
using Picoseconds = std::int64_t;

inline constexpr Picoseconds kPicosecondsPerNanosecond = 1'000;
inline constexpr Picoseconds kPicosecondsPerSecond = 1'000'000'000'000;

/// Rounds to the nearest picosecond.  Negative, infinite or longer than 100 days is a bug.
Picoseconds picoseconds_of(double seconds);

inline double seconds_of(Picoseconds time) { return static_cast<double>(time) * 1e-12; }

inline double milliseconds_of(Picoseconds time) { return seconds_of(time) * 1e3; }

/// How long one rank computes without communication, layer by layer, for one micro-batch.  The
/// parts follow each other without gaps, so they sum to the time from the start of forward to the
/// last gradient.
struct LayerProfile {
  std::string origin;  // who measured it, on what; for people

  /// By ModuleId: from entering the module's gate to entering the next one's; the last lasts until
  /// backward starts, so it holds the loss.
  std::vector<Picoseconds> forward;

  /// By ParameterId: from the gradient that is ready before it (for the first of the ready order:
  /// from the start of backward) until this one is final.
  std::vector<Picoseconds> backward;

  /// By ModuleId: bytes kept from forward to backward; empty where unknown.
  std::vector<std::int64_t> activation_bytes{};

  Picoseconds forward_total() const;
  Picoseconds backward_total() const;
};

/// Throws UsageError unless the profile has one time per module and per parameter of the model,
/// none negative.
void check_profile(const ModelShape& model, const LayerProfile& profile);

/// When each gradient is final, in ready order, counted from the start of backward.
std::vector<Picoseconds> ready_times(const ModelShape& model, const LayerProfile& profile);

}  // namespace paceline::plan
