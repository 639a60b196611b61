// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/records/run_record.h"

namespace paceline::measure {

/// Adds the warning that ranks share cores, which the record's own figures do
/// not show.
void add_warnings(const records::Configuration& configuration,
                  const records::Environment& environment,
                  records::RunRecord& record);

}  // namespace paceline::measure
