// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The report of DLPerf's anatomy (framework_report.h) in GitHub's Markdown:
/// environment, frameworks with version and features, options, and for each
/// model and number type a table of throughput, one of speed-up and efficiency,
/// a chart of each, and the findings.
std::string render_dlperf(std::span<const records::RunRecord> records);

}  // namespace paceline::report
