// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/report/diff.h"
#include "paceline/report/diff_notes.h"
#include "paceline/report/result_column.h"

namespace paceline::report {

using DiffColumns = ResultColumns<const DiffRow*>;

/// What is said of each pair of cases, as columns of the table of a group.
DiffColumns diff_columns(const Diff& diff, const DiffGroup& group);

}  // namespace paceline::report
