// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"

namespace paceline::report {

/// What a report of the Python package, python/paceline/reports/NAME.py, prints
/// of the records.  Throws WorldError where it cannot be started, or fails.
std::string python_report(const std::string& name,
                          std::span<const records::RunRecord> records);

/// The same report as data, which the page shows.
Json python_report_data(const std::string& name,
                        std::span<const records::RunRecord> records);

}  // namespace paceline::report
