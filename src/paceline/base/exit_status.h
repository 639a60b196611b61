// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/base/error.h"

// What the program and its ranks exit with, beside the codes of the errors.

namespace paceline {

/// A run went to its end and has failed cases, or a comparison has found what
/// --fail-on names.
inline constexpr int kFailedStatus = 1;

/// Values were not what they must be.
inline constexpr int kWrongValuesStatus = 3;

/// A comparison lacks what a verdict needs.
inline constexpr int kUndecidedStatus = 4;

/// A signal ended or stopped the process: the signal more.
inline constexpr int kSignalStatus = 128;

}  // namespace paceline
