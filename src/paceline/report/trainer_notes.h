// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// What trainers beside embedding tables did in a step: phases, and where
/// tables were looked up bytes, the balance of servers, and how old rows were.
std::vector<Note> trainer_notes(const records::RunRecord& run);

}  // namespace paceline::report
