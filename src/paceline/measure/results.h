// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "paceline/experiment/job_spec.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/measure/case_logs.h"
#include "paceline/measure/record_target.h"
#include "paceline/records/run_record.h"

namespace paceline::measure {

/// The environment variable that names the file of a run's records.
inline constexpr const char* kRecordsVariable = "PACELINE_RECORDS";

/// Exit code of a run that went to its end, where cases failed.
inline constexpr int kFailedCasesStatus = 1;

/// The exit code of a run whose values were not what they must be.
inline constexpr int kWrongValuesStatus = 3;

/// "paceline: SIGINT ended the run: "
std::string ended_by(int signal);

/// The front of a job: takes finished cases from its ranks, is the only writer
/// of the record file, and prints.
class Results {
 public:
  /// Chooses the settings' `records` where it is empty, and creates its folder
  /// and that of --logs.  Ranks are told no file that is a device or a pipe.
  /// Throws UsageError where an output cannot be written, the format is
  /// unknown, the record file holds something else, or the logs are of other
  /// records.
  explicit Results(experiment::JobSpec& job);

  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Where the records are, as the user knows it.
  const std::string& shown_path() const { return target_->path(); }

  /// To be called before the ranks begin repetition `run`, with their store:
  /// tells them what is finished.
  void begin(launch::KeyValueStore& store, int run);

  /// Appends the cases that the ranks have handed over since the last call, and
  /// prints their rows where the format's rows do not depend on later ones.
  /// Throws WorldError where the disk is full.
  void take(launch::KeyValueStore& store);

  /// Records that the case which is under way failed, with the samples that the
  /// ranks have told.  Returns its key; nothing where none is under way, or
  /// where it is the only case and has no sample.
  std::optional<std::string> add_failed(launch::KeyValueStore& store,
                                        const std::string& why);

  /// Prints this run's records (those not yet shown) on stdout, below a table
  /// the predictions of its cases on the cluster file; writes --json
  /// and --page, and prints the path of the records on stderr.  With --resume,
  /// earlier records of the same cases belong to the run.
  ///
  /// For a run that ended early, `ended` is printed first on stderr, followed
  /// by the number of finished cases and the command that resumes the run.
  void show(const std::string& ended = "");

  /// The number of recorded repetitions of cases, and of all.
  struct Tally {
    std::size_t finished = 0, all = 0;
  };
  Tally tally() const;

  /// The number of cases with a repetition that failed and has no good record.
  std::int64_t count_failed() const;

  /// Says on stderr how many these are; the exit code of a run that went to its
  /// end.
  int status_of_failed() const;

  /// The records of the run's cases; with --resume, earlier ones too.
  std::span<const records::RunRecord> records_of_run() const;

  /// Whether any case of the run, a failed one too, has left samples.
  bool has_samples() const;

  /// What the run has of one of its repetitions, by the cases' keys.
  struct Tries {
    std::set<std::string> done;         // with a record that is no failure
    std::map<std::string, int> failed;  // since this run began; of the others
  };
  Tries tries(int run) const;

  /// Whether every case has its record already (--resume); prints that on
  /// stderr.
  bool print_if_complete() const;

 private:
  void append(records::RunRecord record);
  void print(const std::string& text);
  void show_rows();
  void show_predictions(const std::vector<records::RunRecord>& shown) const;
  void add_virtual_times(std::vector<records::RunRecord>& shown);
  void write_page() const;
  std::string case_runs(std::size_t all) const;
  std::string resume_text() const;

  experiment::Experiment experiment_;
  experiment::Settings settings_;  // settled
  std::optional<RecordTarget> target_;
  std::string printed_;
  CaseLogs logs_;
  int run_ = 0;              // of the session
  std::size_t taken_ = 0;    // of the session's cases
  std::size_t written_ = 0;  // records in the file
  /// Records of the run's cases that earlier runs wrote, then all records that
  /// this run wrote.
  std::vector<records::RunRecord> records_;
  std::vector<std::size_t> numbers_;  // of each in the file, from 1
  std::size_t earlier_ = 0;           // of these, those of earlier runs
};

}  // namespace paceline::measure
