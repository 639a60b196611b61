// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/report/diff.h"

// Runs in turns that go on until every case is decided.

namespace paceline::report {

/// Sets change, p, corrected_p and pairs_to_go of each row from its pairs of runs.  The rows share
/// the significance equally, so that the chance of any false decision among them is at most that.
/// A row has an interval from the number of pairs on that bounds it.
void estimate_until(std::vector<DiffRow>& rows, const DiffOptions& options);

/// Runs a side of a plan fixed beforehand that would decide the row, one of
/// `cases`, as often as up to UntilOptions::most runs in sequence do at the
/// change and the scatter that were seen; nothing where the row is not decided.
std::optional<std::size_t> fixed_plan_of(const DiffRow& row, std::size_t cases,
                                         const DiffOptions& options);

/// Whether no further pair is needed: every row is decided, or there is none.
bool is_decided(const Diff& diff);

/// "after 5 pairs: +4.1 % [+1.2, +7.1], about 2 more pairs", of the case that takes longest; with
/// several cases its name, and how many are decided.
std::string until_text(const Diff& diff);

}  // namespace paceline::report
