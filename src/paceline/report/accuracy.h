// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// Of the cases that trained on data: a table for each data, split, network and
/// length of training, with a row a case over all of its runs and seeds: loss
/// and accuracy at the end, and steps, time and bytes to the target.
std::vector<Table> accuracy_tables(std::span<const records::RunRecord> records);

/// What their columns mean.
Note accuracy_note();

}  // namespace paceline::report
