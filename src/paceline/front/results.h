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

#include "paceline/case/job_spec.h"
#include "paceline/front/front.h"
#include "paceline/front/record_target.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/records/run_record.h"

namespace paceline::front {

/// "paceline: SIGINT ended the run: "
std::string ended_by(int signal);

/// The front of a sweep of cases.
class Results final : public Front {
 public:
  /// Chooses the settings' `records` where it is empty, and creates its folder and that of --logs.
  /// Ranks are told no file that is a device or a pipe. Throws UsageError where an output cannot be
  /// written, the format is unknown, the record file holds something else, or the logs are of other
  /// records.
  explicit Results(cases::JobSpec& job);

  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Also tells the ranks what is finished.
  void begin(launch::KeyValueStore& store, int run) override;

  /// Appends the records of these cases, and prints their rows where the format's rows do not
  /// depend on later ones.
  void take(launch::KeyValueStore& store) override;

  /// There is no record where no case is under way, or where it is the only case and has no sample.
  std::optional<std::string> add_failed(launch::KeyValueStore& store,
                                        const std::string& why) override;

  /// Prints the records that were not yet shown, below a table the predictions of its cases on the
  /// cluster file, and writes --json, --logs and --page.  With
  /// --resume, earlier records of the same cases belong to the run.  Of a run
  /// that ended early it says which command resumes it.
  void show(const std::string& ended) override;

  /// The number of recorded repetitions of cases, and of all.
  struct Tally {
    std::size_t finished = 0, all = 0;
  };
  Tally tally() const;

  /// Also says how many cases failed.
  int status() override;

  /// The records of the run's cases; with --resume, earlier ones too.
  std::span<const records::RunRecord> records_of_run() const;

  bool has_samples() const override;
  std::string failures_in() const override;

  /// What the run has of one of its repetitions, by the cases' keys.
  struct Tries {
    std::set<std::string> done;         // with a record that is no failure
    std::map<std::string, int> failed;  // since this run began; of the others
  };
  Tries tries(int run) const;

  /// Whether every case has its record already (--resume); prints that on stderr.
  bool print_if_complete() const;

 private:
  /// The number of cases with a repetition that failed and has no good record.
  std::int64_t count_failed() const;
  void append(records::RunRecord record);
  /// Once in each repetition.
  void add_rejected();
  void print(const std::string& text);
  void show_rows();
  void show_predictions(const std::vector<records::RunRecord>& shown) const;
  void add_virtual_times(std::vector<records::RunRecord>& shown);
  void write_page() const;
  void write_logs() const;
  std::string case_runs(std::size_t all) const;
  std::string resume_text() const;

  cases::Experiment experiment_;
  cases::Settings settings_;  // settled
  std::optional<RecordTarget> target_;
  std::string printed_;
  int run_ = 0;              // of the session
  std::size_t taken_ = 0;    // of the session's cases
  std::size_t written_ = 0;  // records in the file
  /// Records of the run's cases that earlier runs wrote, then all records that this run wrote.
  std::vector<records::RunRecord> records_;
  std::vector<std::size_t> numbers_;  // of each in the file, from 1
  std::size_t earlier_ = 0;           // of these, those of earlier runs
};

}  // namespace paceline::front
