// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"

// The layouts of other tools' reports, which modules of python/paceline/reports make.

namespace paceline::report {

/// What `paceline.reports.NAME` of the Python package prints of `input`.
/// Throws WorldError where it cannot be started or fails.
std::string python_report(const std::string& name, const std::vector<std::string>& arguments,
                          const Json& input);

/// What layouts of single steps are made from:
///   records  every record, with a warning where its engine was slower than its emulated link
///   cases    all but the discarded ones: the indices of their `runs`; their `strategy` in short
///   and
///            their `label`; the words of a `job` with embedding tables, whose steps vary in their
///            samples, else null; how many `tokens` a sample of a network that reads text has;
///            `student_t`, the t of a 95 % interval over the runs
Json layout_input(std::span<const records::RunRecord> records);

/// The text that a command of the module makes of the records; empty where there are none.
std::string render_layout(const std::string& name, std::span<const records::RunRecord> records,
                          const std::string& command = "text");

/// What PyTorch's DDP benchmark reports of the records: `report`, the object that its --json writes
/// and its diff.py reads, and the `name` that tells it from the others ("1MB",
/// "25MB-dtype_bf16"); empty where it is the only one.
Json ddp_reports(std::span<const records::RunRecord> records);

/// Writes each report to a file, and returns their names: `path`, of several reports with their
/// names, "report-1MB.json".
std::vector<std::string> write_ddp_reports(const std::string& path,
                                           std::span<const records::RunRecord> records);

}  // namespace paceline::report
