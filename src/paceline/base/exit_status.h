// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/base/error.h"

// Exit codes of the program and its ranks, in addition to those of the errors.

namespace paceline {

/// A run completed with failed cases, or a comparison found a difference that --fail-on names.
inline constexpr int kFailedStatus = 1;

/// Computed values differ from the expected ones.
inline constexpr int kWrongValuesStatus = 3;

/// A comparison lacks the data that a verdict needs.
inline constexpr int kUndecidedStatus = 4;

/// A signal ended or stopped the process: the exit code is this plus the signal's number.
inline constexpr int kSignalStatus = 128;

}  // namespace paceline
