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
#include "paceline/launch/key_value_store.h"
#include "paceline/records/json.h"
#include "paceline/records/run_record.h"

namespace paceline::front {

/// Returns "paceline: SIGINT ended the run: ", the beginning of a message.
std::string ended_by_signal_text(int signal);

/// Collects the results of a sweep of cases.
class Results final : public Front {
 public:
  /// Creates the folders of the records and of --logs.  Throws UsageError if an output cannot be
  /// written, the format is unknown, the record file holds something else, or the logs are from
  /// other records.
  explicit Results(const cases::JobSpec& job);

  /// Also tells the ranks, through the store, which cases are finished and must not run again.
  void begin(launch::KeyValueStore& store, int run) override;

  /// Makes no record if no case is running, or if it is the only case and has no samples.
  std::optional<std::string> add_failed(launch::KeyValueStore& store,
                                        const std::string& why) override;

  /// Prints the records that were not yet shown, and below a table the predictions of its cases on
  /// the cluster file; writes --json, --logs and --page.  With --resume, earlier records of the
  /// same cases belong to the run.  For a run that ended early, prints which command resumes it.
  void show(const std::string& ended) override;

  /// The number of recorded repetitions of cases, and the number of all repetitions.
  struct RunTally {
    std::size_t finished = 0, all = 0;
  };
  RunTally tally() const;

  /// Also prints how many cases failed.
  int status() override;

  /// Returns the records of the run's cases; with --resume also the earlier ones.
  std::span<const records::RunRecord> records_of_run() const;

  bool has_samples() const override;
  std::string failures_in() const override;

  /// The outcomes of the cases in one repetition, by the cases' keys.
  struct CaseOutcomes {
    std::set<std::string> done;         // cases with a record that is no failure
    std::map<std::string, int> failed;  // failures in this run, of the other cases
  };
  CaseOutcomes tries(int run) const;

  /// Whether every case already has its record (--resume).  If so, prints that on stderr.
  bool print_if_complete() const;

 private:
  /// Returns the number of cases that have a failed repetition without a good record.
  std::int64_t count_failed() const;
  void keep(const std::string& line) override { records_.push_back(records::from_line(line)); }
  void append(records::RunRecord record);
  /// Records the rejected cases as failed, once in each repetition.
  void add_rejected();
  void print(const std::string& text);
  void show_rows() override;
  void show_predictions(const std::vector<records::RunRecord>& shown) const;
  void add_virtual_times(std::vector<records::RunRecord>& shown);
  void write_page() const;
  void write_logs() const;
  std::string case_runs(std::size_t all) const;
  std::string resume_text() const;

  cases::Experiment experiment_;
  std::string printed_;
  /// Records of the run's cases that earlier runs wrote, then all records that this run wrote.
  std::vector<records::RunRecord> records_;
  std::size_t earlier_record_count_ = 0;  // how many of these earlier runs wrote
};

}  // namespace paceline::front
