// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/records/run_record.h"
#include "paceline/report/cases.h"

namespace paceline::report {

/// What PyTorch's DDP benchmark prints, to the character: banner, topology,
/// and per model one row a case with percentiles of the steps of all ranks and
/// runs pooled, and the rate of one rank (batch size / percentile, truncated).
/// The words "GPUs" and "nvidia-smi" stay on machines that have none.
/// Cases that failed have no row.
///
/// The original measures one backend and one bucket size a call.  Of several,
/// each has a banner and tables of its own, in all of which the case without
/// DDP stands.  A row that is called as an earlier one of its table says also
/// in which keys it differs: "1M/2G dtype=bf16".
std::string render_ddp(std::span<const records::RunRecord> records);

/// What one call of the benchmark reports.
struct DdpReport {
  /// What tells it from the other reports of its records: "1MB", "gloo-1MB",
  /// "25MB-dtype_bf16"; empty where it is the only one.
  std::string name;
  /// The object that the benchmark's --json writes and its diff.py reads:
  /// seconds, all ranks pooled.  The reader pairs by position and passes over
  /// the first result of a model, which must be the one without DDP; where the
  /// records have no such case, an empty one stands there.
  nlohmann::ordered_json json;
  /// What diff.py prints above its tables, by key.
  std::map<std::string, std::string> facts;
};

/// The reports of the records; rows that a report could not tell apart are in
/// reports of their own.
std::vector<DdpReport> ddp_reports(std::span<const records::RunRecord> records);

/// The text of a report's object, without a line break at the end.
std::string render_ddp_json(const DdpReport& report);
/// The same of records that make one report.
std::string render_ddp_json(std::span<const records::RunRecord> records);

/// Writes each report to a file, and returns their names: `path`, of several
/// reports with their names, "report-1MB.json".
std::vector<std::string> write_ddp_reports(
    const std::string& path, std::span<const records::RunRecord> records);

/// Seconds of the steps of all ranks and runs of a case, one after the other.
std::vector<double> pooled_over_runs(const Case& one);

/// Whether it is the benchmark's case without DDP.
bool is_without_ddp(const records::Configuration& c);

}  // namespace paceline::report
