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

/// The staleness of averages that do not wait for neighbors, in steps by which a neighbor's values
/// were older than its newest ones.
struct AverageStaleness {
  double mean_steps = 0;  // mean over all averages of all ranks and runs
  std::int64_t most_steps = 0;
};

/// The results of one case over all of its runs.  Points into the records of the case.  A value is
/// absent if it was not measured or does not exist for the case.
struct CaseSummary {
  std::string label;  // unique within its table
  records::Source source = records::Source::kMeasured;
  std::string experiment;
  cases::Case configuration;
  std::vector<const records::RunRecord*> runs{};  // all runs of the case

  std::size_t failed_runs = 0;
  /// Why the case cannot be compared with the others of its table: it did not train the same as
  /// they did.
  std::optional<std::string> not_comparable{};
  bool not_run = false;             // this machine cannot run the case; that is no failure
  std::vector<std::string> errors;  // error messages of the failed runs, without duplicates
  /// Seconds per step of the slowest rank, over all steps of all runs.
  std::optional<stats::StepSummary> step_s;
  /// Examples per second of all ranks together: examples divided by wall time.
  std::optional<stats::Estimate> examples_per_s;
  /// Examples per second and rank, divided by those of the baseline; 1 is linear scaling.
  std::optional<stats::Estimate> efficiency;
  std::optional<std::string> baseline;  // label of the one-rank case that efficiency refers to
  /// Seconds by which a step is longer than the same step without communication.
  std::optional<stats::Estimate> exposed_s;
  /// Seconds per step that were spent waiting for input data: the mean over the steps of the rank
  /// that waited longest; of several runs, the median.
  std::optional<stats::Estimate> data_wait_s;
  /// Bytes per rank and step that were given to the engine (Gloo, NCCL, MPI); the largest value of
  /// the ranks.
  std::optional<std::int64_t> wire_bytes_per_step;
  std::optional<std::int64_t> planned_wire_bytes_per_step;
  std::optional<std::int64_t> peak_memory_bytes;  // the largest value of the ranks
  /// RunRecord::consensus_distance: the distance of the ranks' parameters from their mean; the
  /// largest value of the runs.
  std::optional<double> consensus_distance;
  /// The staleness of averages that use whatever has arrived.
  std::optional<AverageStaleness> average_staleness;
  std::vector<records::Warning> warnings;  // each distinct one once
  /// The worst link check among the runs on an emulated link: by validity, overdue share, then
  /// slack.
  std::optional<records::LinkCheck> link_check;
  /// The lower bound and the error bar of a prediction, from the first run that has them.
  std::optional<records::PredictionDetails> predicted;

  /// The coding cost of the run whose coding took longest; absent without a codec.
  std::optional<records::CodingCost> coding;
  std::optional<double> last_loss;  // loss of the last step, mean over the runs
  /// Only for cases that train on a data set (--data).
  std::optional<TrainingResults> training_results;

  std::int64_t training_ranks = 0;  // number of ranks that do model work

  /// Examples per second, divided by the number of ranks that train.
  std::optional<double> examples_per_s_per_rank() const;
  bool failed() const { return !step_s.has_value(); }
  /// Returns the number of steps of all runs.  A sample is the mean of several steps if a line of a
  /// command's output covers several.
  std::size_t measured_steps() const {
    return failed() ? 0 : step_s->steps * configuration.steps_per_line;
  }
  /// Whether all runs are valid, as RunRecord::valid() defines it.
  bool valid() const {
    return (!link_check || link_check->valid()) && !records::lacks_exchange(warnings);
  }
};

using GroupSummary = TableGroup<CaseSummary>;

/// Returns "10 steps", or "10 steps in 2 lines" for a command that prints a line for several steps.
std::string steps_text(const CaseSummary& row);

/// Returns the warning for a case whose engine was slower than its emulated link.
records::Warning slower_than_link(const records::LinkCheck& check);

/// The time of each step of each run in seconds; the time of a step is its slowest rank's.
using RunSeconds = std::vector<std::vector<double>>;

/// Returns the warnings that follow from a row's samples alone: an engine slower than its emulated
/// link, steps that are not steady or are correlated, few steps, bytes that differ from the plan's.
std::vector<records::Warning> sample_warnings(const CaseSummary& row, const RunSeconds& runs);

/// Summarizes every case of the records except discarded ones, grouped by model and batch size, in
/// the order of their first records.  Adds the warnings that follow from the samples: too few
/// steps, steps that are not steady, wrongly reduced values, bytes that differ from the plan's.
std::vector<GroupSummary> summarize(std::span<const records::RunRecord> records);

}  // namespace paceline::report
