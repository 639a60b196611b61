// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"

// The layouts of PyTorch's DDP benchmark, which python/paceline/reports/ddp.py makes.

namespace paceline::report {

/// What the benchmark prints, to the character: banner, topology, and per model one row a case with
/// percentiles of the steps of all ranks and runs pooled.
std::string render_ddp(std::span<const records::RunRecord> records);

/// What one call of the benchmark reports.
struct DdpReport {
  /// What tells it from the other reports of its records: "1MB", "gloo-1MB", "25MB-dtype_bf16";
  /// empty where it is the only one.
  std::string name;
  /// The object that the benchmark's --json writes and its diff.py reads: seconds, all ranks
  /// pooled.
  Json json;
};

/// The reports of the records; rows that a report could not tell apart are in reports of their own.
std::vector<DdpReport> ddp_reports(std::span<const records::RunRecord> records);

/// The text of a report's object, without a line break at the end.
std::string render_ddp_json(const DdpReport& report);
/// The same of records that make one report.
std::string render_ddp_json(std::span<const records::RunRecord> records);

/// Writes each report to a file, and returns their names: `path`, of several reports with their
/// names, "report-1MB.json".
std::vector<std::string> write_ddp_reports(const std::string& path,
                                           std::span<const records::RunRecord> records);

}  // namespace paceline::report
