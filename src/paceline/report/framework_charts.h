// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/report/framework_report.h"

namespace paceline::report {

/// Charts of throughput and of speed-up against devices, as Mermaid draws them.
/// Its lines are of equal length, so a chart holds the columns that have every
/// row, and says which it leaves out.
std::string framework_charts(const FrameworkResults& results);

}  // namespace paceline::report
