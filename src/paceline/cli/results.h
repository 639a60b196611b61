// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "paceline/experiment/experiment.h"
#include "paceline/experiment/settings.h"

namespace paceline::cli {

/// "results/quick-20260131T174500Z.jsonl", of the time now.
std::string default_records_path(const std::string& experiment);

/// Where a run leaves what it measured, and what it shows of it at the end.
class Results {
 public:
  /// Settles `settings.records`, creates its default folder, and fails with a
  /// UsageError where an output cannot be written, the format is unknown, or
  /// the record file holds something else: before time is spent.
  explicit Results(experiment::Settings& settings);

  /// Prints this run's records on stdout, writes --json, and says on stderr
  /// where the records lie.  With --resume, earlier records of the same cases
  /// belong to the run.  Returns whether there was a record at all.
  bool show(const experiment::Experiment& experiment) const;

 private:
  const experiment::Settings& settings_;
  std::size_t already_ = 0;  // records in the file before this run
};

}  // namespace paceline::cli
