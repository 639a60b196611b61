// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "paceline/report/diff.h"

// How many runs find what, as much as those of a comparison scatter.

namespace paceline::report {

/// The change that is looked for where none is stated.
inline constexpr double kUsualChange = 0.01;

/// The standard deviation of values; nothing below three of them.
std::optional<double> deviation_of(std::span<const double> values);

/// Sets needed_runs, runs_for_power, power_change, found_change and, of runs that went on until
/// they were decided, fixed_plan.  The rows have verdicts.
void plan_runs(Diff& diff, bool interleaved);

}  // namespace paceline::report
