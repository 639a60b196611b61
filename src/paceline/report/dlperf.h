// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"
#include "paceline/report/framework_tables.h"

namespace paceline::report {

/// The report of DLPerf's anatomy, in GitHub's Markdown: environment,
/// frameworks with version and features, options, and for each model and number
/// type a table of throughput, one of speed-up and efficiency, a chart of each,
/// and the findings.  Everything comes from the records.
std::string render_dlperf(std::span<const records::RunRecord> records);

/// "1412.3 [1380.1, 1440.2]"; as its source printed it where there is one;
/// "not run" with a footnote's number or "-" where there is none.
std::string cell_text(const FrameworkCell& cell);

/// "7.87x, 98.4 %"; "-" where there is none.
std::string speed_up_text(const FrameworkColumn& column,
                          const Devices& devices);

}  // namespace paceline::report
