// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"

// Writes the log files of --logs: one file per case in the format of ddl-benchmarks, made from one
// record file.

namespace paceline::report {

/// The contents of a log's header, except the command of its case.
struct LogHeader {
  std::string title;
  std::string records;  // the path of the record file
};

/// Creates `folder`.  Throws UsageError if the folder cannot be written, or if it holds the log of
/// a case that is not from the record file `records`.
void check_log_folder(const std::string& folder, const std::string& records);

/// Writes the log of each case, including discarded cases.  The Python module paceline.reports.ddl
/// makes the file names, in the order of the cases, and the texts.  Throws WorldError if it fails.
void write_case_logs(const std::string& folder, const LogHeader& head,
                     std::span<const records::RunRecord> records);

}  // namespace paceline::report
