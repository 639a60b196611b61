// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"

namespace paceline::report {

/// What the head of a log says beside its case's command.
struct LogHead {
  std::string title;
  std::string records;  // the file that the log is written from
};

/// The folder of --logs: the logs of ddl-benchmarks, one a case, written from one record file.  The
/// module paceline.reports.ddl makes their names and texts.
class CaseLogs {
 public:
  /// No folder: nothing is written.
  CaseLogs() = default;

  /// Creates `folder`.  Throws UsageError where it cannot be written, or holds the log of a case
  /// that is not from the record file `head.records`.
  CaseLogs(std::string folder, LogHead head);

  /// Names the log of a case.  To be called for each record of the file, in their order, so that a
  /// log keeps its name.
  void name(const records::Configuration& configuration);

  /// Writes the logs of those cases that have a record which the last call did not have.  `records`
  /// are those of the last call and what follows them.  Throws WorldError.
  void write(std::span<const records::RunRecord> records);

 private:
  std::string folder_;
  LogHead head_;
  Json named_ = Json::array();                 // what the log of each case is called by
  std::map<std::string, std::size_t> number_;  // in `named_`, by the key of the configuration
  std::size_t known_ = 0;                      // records of the last call
};

}  // namespace paceline::report
