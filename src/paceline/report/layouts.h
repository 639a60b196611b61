// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"

// The report layouts of other tools, which modules of python/paceline/reports render.

namespace paceline::report {

/// Returns what the Python module `paceline.reports.NAME` prints for `input`.  Throws WorldError if
/// the module cannot be started or fails.
std::string python_report(const std::string& name, const std::vector<std::string>& arguments,
                          const Json& input);

/// Returns the input of the layouts:
///   records  every record, with a warning if its engine was slower than its emulated link
///   cases    all but the discarded ones: the indices of their `runs`; their short `strategy`;
///            their `label`; a description of the `job` if it has embedding tables, else null; the
///            `tokens` of one example if the network reads text, else null; `student_t`, the t
///            quantile for a 95 % interval over the runs
Json layout_input(std::span<const records::RunRecord> records);

/// Returns what the subcommand `command` of the Python module `name` prints for the records; empty
/// if there are no records.
std::string render_layout(const std::string& name, std::span<const records::RunRecord> records,
                          const std::string& command = "text");

/// Returns the reports of PyTorch's DDP benchmark for the records.  Each has `report`, the object
/// that the benchmark's --json writes and its diff.py reads, and `name`, which distinguishes it
/// from the others ("1MB", "25MB-dtype_bf16") and is empty if there is only one report.
Json ddp_reports(std::span<const records::RunRecord> records);

/// Writes each report to a file and returns the file names: `path` for a single report, else `path`
/// with the report's name added ("report-1MB.json").
std::vector<std::string> write_ddp_reports(const std::string& path,
                                           std::span<const records::RunRecord> records);

}  // namespace paceline::report
