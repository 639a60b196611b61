// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "paceline/report/diff.h"

namespace paceline::report {

/// Versions, builds and recorded environment variables in which the sides differ; the values that
/// the records of a side have are joined.
std::vector<Difference> software_differences(std::span<const records::RunRecord> base,
                                             std::span<const records::RunRecord> test);

/// What makes a comparison doubtful: other machines, runs that were not taken in turns, runs that
/// failed.
std::vector<records::Warning> comparison_warnings(const Diff& diff,
                                                  std::span<const records::RunRecord> base,
                                                  std::span<const records::RunRecord> test);

}  // namespace paceline::report
