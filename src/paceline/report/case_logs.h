// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"

// The folder of --logs: the logs of ddl-benchmarks, one a case, written from one record file.

namespace paceline::report {

/// What the head of a log says beside its case's command.
struct LogHead {
  std::string title;
  std::string records;  // the file that the log is written from
};

/// Creates `folder`.  Throws UsageError where it cannot be written, or holds the log of a case that
/// is not from the record file `records`.
void check_log_folder(const std::string& folder, const std::string& records);

/// Writes the log of each case, discarded ones too.  The module paceline.reports.ddl makes their
/// names, in the order of the cases, and their texts.  Throws WorldError.
void write_case_logs(const std::string& folder, const LogHead& head,
                     std::span<const records::RunRecord> records);

}  // namespace paceline::report
