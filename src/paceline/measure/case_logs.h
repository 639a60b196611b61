// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/ddl.h"

namespace paceline::measure {

/// The folder of --logs: a log a case, written from one record file.
class CaseLogs {
 public:
  /// No folder: nothing is written.
  CaseLogs() = default;

  /// Creates `folder`.  Throws UsageError where it cannot be written, or holds the log of a case
  /// that is not from the record file `head.records`.
  CaseLogs(std::string folder, report::DdlLogHead head);

  /// Whether there is a folder.
  explicit operator bool() const { return !folder_.empty(); }

  /// Names the log of a case.  To be called for each record of the file, in their order, so that a
  /// log keeps its name.
  void name(const records::Configuration& configuration) { names_.of(configuration); }

  /// Writes the logs of those cases that have a record which the last call did not have.  `records`
  /// are those of the last call and what follows them. Throws WorldError.
  void write(std::span<const records::RunRecord> records);

 private:
  std::string folder_;
  report::DdlLogHead head_;
  report::DdlLogNames names_;
  std::map<std::string, std::vector<std::size_t>> records_of_;  // by name
  std::size_t known_ = 0;                                       // records of the last call
};

}  // namespace paceline::measure
