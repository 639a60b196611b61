// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/diff.h"

namespace paceline::report {

/// What is proven of a row; change and p are set.
Verdict verdict_of(const DiffRow& row, bool interleaved, const DiffOptions& options);

/// The names of the rows with this verdict.
std::vector<std::string> names_with(const Diff& diff, Verdict verdict);

/// What keeps the comparison from a decision: runs, pairs or cases that are missing, sides of
/// unequally many runs, rows without a verdict.
std::vector<std::string> missing_of(const Diff& diff);

}  // namespace paceline::report
