// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/record/run_record.h"

namespace paceline::bench {

/// What a reader of the numbers must know and cannot see in the record's own
/// figures (those the report looks at): shared cores.
void add_warnings(const record::Configuration& configuration,
                  const record::Environment& environment,
                  record::RunRecord& record);

}  // namespace paceline::bench
