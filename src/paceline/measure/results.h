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

#include "paceline/experiment/experiment.h"
#include "paceline/experiment/settings.h"
#include "paceline/measure/case_logs.h"
#include "paceline/measure/case_record.h"
#include "paceline/measure/record_target.h"
#include "paceline/records/run_record.h"
#include "paceline/records/store.h"

namespace paceline::measure {

/// The environment variable that names the file of a run's records.
inline constexpr const char* kRecordsVariable = "PACELINE_RECORDS";

/// Exit code of a run that went to its end, where cases failed.
inline constexpr int kFailedCasesStatus = 1;

/// The exit code of a run whose values were not what they must be.
inline constexpr int kWrongValuesStatus = 3;

/// "paceline: SIGINT ended the run: "
std::string ended_by(int signal);

/// Where a run writes its records, and what it prints of them.  What is
/// appended to the file is read once.
class Results {
 public:
  /// Chooses `settings.records` where it is empty or no file (RecordTarget),
  /// and creates its folder and that of --logs.  Throws UsageError where an
  /// output cannot be written, the format is unknown, the record file holds
  /// something else, or the logs are of other records.
  explicit Results(experiment::Settings& settings);

  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Where the records are, as the user knows it.
  const std::string& shown_path() const { return target_->shown(); }

  /// Prints the rows of the records since the last call, where the format's
  /// rows do not depend on later ones.  Cheap where there is no new record.
  void show_rows(const experiment::Experiment& experiment);

  /// Prints this run's records (those not yet shown) on stdout, below a table
  /// the predictions of its cases on the cluster file; writes --json
  /// and --page, and prints the path of the records on stderr.  With --resume,
  /// earlier records of the same cases belong to the run.
  ///
  /// For a run that ended early, `ended` is printed first on stderr, followed
  /// by the number of finished cases and the command that resumes the run.
  void show(const experiment::Experiment& experiment,
            const std::string& ended = "");

  /// The number of recorded repetitions of cases, and of all.
  struct Tally {
    std::size_t finished = 0, all = 0;
  };
  Tally tally(const experiment::Experiment& experiment);

  /// The number of cases with a repetition that failed and has no good record.
  std::int64_t count_failed(const experiment::Experiment& experiment);

  /// Says on stderr how many these are; the exit code of a run that went to its
  /// end.
  int status_of_failed(const experiment::Experiment& experiment);

  /// Records that a case failed, with the samples that there are of it.
  void add_failed(const experiment::Experiment& experiment,
                  const records::Configuration& configuration,
                  int run,
                  const std::string& why,
                  PartialSamples so_far) const;

  /// Whether any case of the run, a failed one too, has left samples.
  bool has_samples(const experiment::Experiment& experiment);

  /// What the run has of one of its repetitions, by the cases' keys.
  struct Tries {
    std::set<std::string> done;         // with a record that is no failure
    std::map<std::string, int> failed;  // since this run began; of the others
  };
  Tries tries(const experiment::Experiment& experiment, int run);

  /// Whether every case has its record already (--resume); prints that on
  /// stderr.
  bool print_if_complete(const experiment::Experiment& experiment);

 private:
  void read(const experiment::Experiment& experiment);
  std::span<const records::RunRecord> records_of_run() const;
  std::string resume_text(const experiment::Experiment& experiment);
  void print(const std::string& text);
  void show_predictions(const std::vector<records::RunRecord>& shown) const;
  void write_page() const;

  experiment::Settings settings_;  // settled
  std::optional<RecordTarget> target_;
  std::size_t already_ = 0;         // records in the file before this run
  std::uintmax_t shown_bytes_ = 0;  // of the file, when rows were last shown
  std::string printed_;
  CaseLogs logs_;

  records::RecordReader reader_{""};
  std::size_t read_ = 0;  // records of the file
  /// Records of the run's cases that earlier runs wrote, then all records that
  /// this run wrote.
  std::vector<records::RunRecord> records_;
  std::vector<std::size_t> numbers_;  // of each in the file, from 1
  std::size_t earlier_ = 0;           // of these, those of earlier runs
};

}  // namespace paceline::measure
