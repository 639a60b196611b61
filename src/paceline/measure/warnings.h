// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/records/run_record.h"

namespace paceline::measure {

/// What a reader of the numbers must know and cannot see in the record's own
/// figures (those the report looks at): shared cores.
void add_warnings(const records::Configuration& configuration,
                  const records::Environment& environment,
                  records::RunRecord& record);

}  // namespace paceline::measure
