// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"

namespace paceline::report {

/// What reports of the Python package are made from, a part of `--format json`:
///   runs          every record without the samples of its steps
///   environments  those of the runs, each once
///   comparisons   tables of programs beside each other: columns with their
///                 cells, and which of them do not train the same
/// Runs and environments are named by their indices.
Json comparison_data(std::span<const records::RunRecord> records);

}  // namespace paceline::report
