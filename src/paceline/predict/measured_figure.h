// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/plan/profile.h"
#include "paceline/records/run_record.h"

// Measurements of a job's speed, given by flags or read from files.

namespace paceline::predict {

struct PredictRequest;

/// One measurement of the job's speed.
struct MeasuredFigure {
  std::string words{};  // the flag's text or the record's name, for messages
  plan::Rank ranks = 1;
  int batch_size = 0;                      // samples per rank and step; 0: the job's
  int accumulate = 0;                      // micro-batches per step; 0: the job's
  std::string strategy{};                  // empty: the job's
  std::optional<double> bucket_mb{};       // empty: the job's
  std::vector<int> ranks_per_host{};       // empty: the cluster's hosts are filled in order
  std::optional<double> step_s{};          // s per step; this or samples_per_s is set
  std::optional<double> samples_per_s{};   // rate of all ranks together
  double spread = 0;                       // standard error, a share of the step; 0: not known
  std::optional<double> compute_only_s{};  // time of a step without communication
  std::optional<std::int64_t> samples_per_step{};  // of all ranks, if a log states it
  std::optional<records::PlannerTimes> planned_by{};

  /// Returns the samples of one micro-batch on one rank, which go through the model together.
  int micro_batch() const { return std::max(1, batch_size / accumulate); }
};

/// A parsed flag --measured: a measurement, or a file with records and the settings that these do
/// not state.
struct ParsedFigure {
  MeasuredFigure figure;
  std::string file{};  // empty: the flag itself gives the time
  bool has_rank_count = false;
};

/// Reads "ranks=8 rate=3821", "ranks=64 batch=24 step=141ms" or "ranks=16 file=train.log": `ranks`,
/// and at least one of `rate` (samples/s of all ranks), `step` (with a unit) and `file` (whose
/// records do not say the rest);
/// `batch` (samples per rank and step), `accumulate` and `strategy` where they
/// are not the job's.  Throws UsageError, which begins with the words.
ParsedFigure parse_figure(const std::string& words);

/// The times in seconds of one rank that trains alone.
struct SingleRankPhases {
  double step = 0, forward = 0, backward = 0;
};

/// The measurements of a job that run records contain.
struct MeasuredRecords {
  std::vector<MeasuredFigure> figures;  // smallest number of ranks first
  /// The case of the first record that states its configuration; empty: no record states one.
  std::optional<cases::Case> job{};
  std::optional<SingleRankPhases> alone{};  // set if runs of one rank recorded phases
  std::vector<records::Warning> warnings{};
};

/// Sorts records into cases and makes one figure of each case.  A record without a step time is
/// left out, with a warning that says why.  Records of a user's program (`--command`, an imported
/// log) count as records of the job's strategy.  Throws UsageError if the records state different
/// jobs, or none is left.
MeasuredRecords measured_figures_of(std::span<const records::RunRecord> records);

/// Sets the layer times of `job`, whose network must be set.  If the job has no profile, each
/// layer's share of the time is the one that the records were planned with, else a roofline.  The
/// times of forward, backward and update are those of the runs of one rank.
void set_layer_times(const MeasuredRecords& measured, PredictRequest& job);

}  // namespace paceline::predict
