// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/base/error.h"

// Exit codes of the program and its ranks, in addition to those of the errors.

namespace paceline {

/// The exit code after a run with failed cases, or after a comparison that found a difference named
/// by --fail-on.
inline constexpr int kFailedStatus = 1;

/// The exit code if computed values differ from the expected ones.
inline constexpr int kWrongValuesStatus = 3;

/// The exit code if a comparison lacks the data that a verdict needs.
inline constexpr int kUndecidedStatus = 4;

/// A signal ended or stopped the process: the exit code is this plus the signal's number.
inline constexpr int kSignalStatus = 128;

}  // namespace paceline
