// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/record/run_record.h"

namespace paceline::bench {

/// What a reader of the numbers must know: shared cores, failed checks, bytes
/// that differ from the plan's.
void add_warnings(const record::Configuration& configuration,
                  const record::Environment& environment,
                  record::RunRecord& record);

}  // namespace paceline::bench
