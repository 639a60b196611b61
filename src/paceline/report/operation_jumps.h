// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/operations.h"

namespace paceline::report {

/// Between which neighboring sizes the ratio of test to base jumps, a sentence each: where one side
/// chooses another algorithm or protocol.  Only operations are looked at in which some range is
/// proven to have changed, so that equals have a jump no more often than a change; over the sizes
/// of all of these the error is controlled by the permutations of the runs' labels (max-T), or, of
/// runs that are looked at after each pair, by their e-values.
std::vector<std::string> jumps_of(const Diff& diff, const OperationSides& sides);

}  // namespace paceline::report
