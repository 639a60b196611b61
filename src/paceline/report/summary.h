// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/accuracy.h"
#include "paceline/report/cases.h"
#include "paceline/stats/interval.h"
#include "paceline/stats/summary.h"

namespace paceline::report {

/// The staleness of averages that do not wait: by how many steps a neighbor's values were older
/// than its newest ones.
struct Lateness {
  double mean_steps = 0;  // over all averages of all ranks and runs
  std::int64_t most_steps = 0;
};

/// One case over all of its runs.  Points into its records.  A value that was not measured, or does
/// not exist for the case, is absent.
struct CaseSummary {
  std::string label;  // unique within its table
  records::Source source = records::Source::kMeasured;
  std::string experiment;
  records::Configuration configuration;
  std::vector<const records::RunRecord*> runs{};  // all of the case

  std::size_t failed_runs = 0;
  /// Why the figures cannot be compared with the others of the table: the programs do not train the
  /// same.
  std::optional<std::string> not_comparable{};
  bool not_run = false;             // the case cannot be here, which is no failure
  std::vector<std::string> errors;  // of the failed runs, each sentence once
  /// Seconds of a step, slowest rank, over all steps of all runs.
  std::optional<stats::StepSummary> step_s;
  /// Examples per second of all ranks: examples over wall time.
  std::optional<stats::Estimate> examples_per_s;
  /// Examples per second and rank as a share of the baseline's; 1 is linear scaling.
  std::optional<stats::Estimate> efficiency;
  std::optional<std::string> baseline;  // the label of the case of one rank
  /// Seconds that a step is longer than the same step without communication.
  std::optional<stats::Estimate> exposed_s;
  /// Seconds that a step waited for its data: the mean over the steps of the rank that waited
  /// longest, of several runs the median.
  std::optional<stats::Estimate> data_wait_s;
  /// Bytes per rank and step that the engine was given; the largest of ranks.
  std::optional<std::int64_t> wire_bytes_per_step;
  std::optional<std::int64_t> planned_wire_bytes_per_step;
  std::optional<std::int64_t> peak_memory_bytes;  // the largest of ranks
  /// As RunRecord::consensus_distance, the largest of the runs.
  std::optional<double> consensus_distance;
  std::optional<Lateness> lateness;        // of averages of what has arrived
  std::vector<records::Warning> warnings;  // each once
  /// The check with the least slack of the runs on an emulated link.
  std::optional<records::LinkCheck> link_check;
  /// Bound and error bar of a prediction, from the first run that has them.
  std::optional<records::Predicted> predicted;

  /// The slowest coding of the runs; absent without a codec.
  std::optional<records::Coding> coding;
  std::optional<double> last_loss;  // mean over runs
  std::optional<Trained> trained;   // of cases that trained on data

  std::int64_t training_ranks = 0;  // those that have model work

  /// Examples per second and rank that trains.
  std::optional<double> examples_per_s_per_rank() const;
  bool failed() const { return !step_s.has_value(); }
  /// Of all runs; a sample is the mean of several where a line of a command's output stands for
  /// several.
  std::size_t measured_steps() const {
    return failed() ? 0 : step_s->steps * configuration.steps_per_line;
  }
  /// As RunRecord::valid(), of all runs.
  bool valid() const {
    return (!link_check || link_check->valid()) && !records::lacks_exchange(warnings);
  }
};

using GroupSummary = TableGroup<CaseSummary>;

/// "10 steps"; "10 steps in 2 lines" of a command with several steps a line.
std::string steps_text(const CaseSummary& row);

/// The warning for a case whose engine was slower than its emulated link.
records::Warning slower_than_link(const records::LinkCheck& check);

/// Seconds of each step of each run, of its slowest rank.
using RunSeconds = std::vector<std::vector<double>>;

/// What a row's samples alone say against it: a link that was too slow, steps that are not steady
/// or resemble each other, few steps, other bytes than planned.
std::vector<records::Warning> own_warnings(const CaseSummary& row, const RunSeconds& runs);

/// Every case of the records but the discarded ones, in the order of their first records, by model
/// and batch size.  Adds the warnings that follow from the samples: too few steps, steps that are
/// not steady, values that were reduced wrongly, bytes that differ from the plan's.
std::vector<GroupSummary> summarize(std::span<const records::RunRecord> records);

}  // namespace paceline::report
