// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "paceline/experiment/experiment.h"
#include "paceline/experiment/settings.h"
#include "paceline/records/run_record.h"

namespace paceline::cli {

/// "results/quick-20260131T174500Z.jsonl", of the time now.
std::string default_records_path(const std::string& experiment);

/// "SIGINT", for people.
std::string signal_name(int signal);

/// Where a run leaves what it measured, and what it shows of it at the end.
class Results {
 public:
  /// Settles `settings.records`, creates its default folder, and fails with a
  /// UsageError where an output cannot be written, the format is unknown, or
  /// the record file holds something else: before time is spent.
  explicit Results(experiment::Settings& settings);

  /// Leaves no file, and no folder, that this run made and put nothing in.
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Prints the rows of what has been recorded since the last call, where the
  /// format's rows do not depend on later ones.  Cheap where nothing was.
  void show_rows(const experiment::Experiment& experiment);

  /// Prints this run's records (those not yet shown) on stdout, writes --json,
  /// and says on stderr where the records lie.  With --resume, earlier records
  /// of the same cases belong to the run.
  ///
  /// For a run that did not come to its end, `ended` is what to say first on
  /// stderr; then it says how many cases are finished, and how to go on.
  void show(const experiment::Experiment& experiment,
            const std::string& ended = "");

  /// How many repetitions of cases have their record, and how many there are.
  struct Tally {
    std::size_t finished = 0, all = 0;
  };
  Tally tally(const experiment::Experiment& experiment) const;

  /// Whether every case has its record already, which --resume then finds; says
  /// so on stderr.
  bool say_if_complete(const experiment::Experiment& experiment) const;

 private:
  std::vector<records::RunRecord> read(
      const experiment::Experiment& experiment) const;
  std::string how_to_go_on(const experiment::Experiment& experiment) const;
  void print(const std::string& text);

  experiment::Settings settings_;  // settled
  bool makes_folder_ = false;
  bool makes_file_ = false;
  std::size_t already_ = 0;         // records in the file before this run
  std::uintmax_t shown_bytes_ = 0;  // of the file, when rows were last shown
  std::string printed_;
};

}  // namespace paceline::cli
