// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::records {

/// A kind of file of another program that is read as records.
struct Importer {
  std::string_view name;     // as in `paceline import --from`
  std::string_view summary;  // one line
  bool (*recognizes)(std::string_view text, const std::string& path);
  /// Throws UsageError that begins with the path and, where there is one, the
  /// line.
  std::vector<RunRecord> (*read)(std::string_view text,
                                 const std::string& path);
};

/// All of them.  To add one, write import_<name>.cc and a row here: `paceline
/// import`, `report` and `diff` read this table.
std::span<const Importer> importers();

/// The importer that recognizes the text, or null.
const Importer* importer_of(std::string_view text, const std::string& path);

// The rows' functions, one file each.

/// A table of rates (CSV with a header), a published cell a row, as
/// docs/from/dlperf.md describes it.
bool is_rate_table(std::string_view text, const std::string& path);
std::vector<RunRecord> import_rate_table(std::string_view text,
                                         const std::string& path);

/// A log of DLPerf: what was run is in its name, .../2n8g/rn50_b128_fp32_3.log,
/// and the steps are in lines of the framework's own (Oneflow-Inc/DLPerf,
/// extract_*.py).  The window is 100 steps after 20, for every framework.
bool is_dlperf_log(std::string_view text, const std::string& path);
std::vector<RunRecord> import_dlperf_log(std::string_view text,
                                         const std::string& path);

/// The `:::MLLOG` lines of an MLPerf training: one record, a step for each
/// `tracked_stats` with a throughput (mlcommons/logging).
bool is_mllog(std::string_view text, const std::string& path);
std::vector<RunRecord> import_mllog(std::string_view text,
                                    const std::string& path);

}  // namespace paceline::records
