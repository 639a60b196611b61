// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/result_column.h"
#include "paceline/report/table.h"
#include "paceline/stats/interval.h"

namespace paceline::report {

/// A record's cluster without the digest of its layer times, which no two profiles have alike.
std::string priced_cluster(const std::string& cluster);

/// One evaluation, over the ranks that train; of several runs the medians.
struct TrainedPoint {
  double step = 0;
  double seconds = 0;  // of the slowest rank
  double bytes = 0;    // of the rank that sent most
  double loss = 0;     // mean; not finite where a rank's is not
  std::optional<double> accuracy{};
};

/// The evaluations of one run; none where it did not train on data.
std::vector<TrainedPoint> trained_points(const records::RunRecord& record);

/// What the runs of a case came to: at the last evaluation of each run, and where a run first
/// reached the target.
struct Trained {
  std::vector<double> losses;
  std::vector<double> accuracies;             // from 0 to 1; none but of classifiers
  std::vector<double> steps, seconds, bytes;  // to the target, of runs there
};

/// What `runs` came to, each of which has at least one point.  A `target` of 0 is none: no run
/// reaches it.
Trained trained(std::span<const std::vector<TrainedPoint>> runs, double target);

/// The median over runs; absent without runs and where a value is not finite.
std::optional<stats::Estimate> median_over(const std::vector<double>& values);

/// How a case came to what its row of the table says.
struct TrainingCurve {
  std::string name;
  int ranks = 1;
  std::size_t runs = 0;
  Trained reached{};
  std::vector<TrainedPoint> points{};
  /// The predicted time of a step on each cluster that the table has a column for; absent where no
  /// prediction is known.
  std::vector<std::optional<double>> predicted_step_s{};
};

/// Cases that trained on data: of one network, data, split, batch size, length of training and
/// target.  A case has all its runs and seeds; a run with other evaluations than the case's first
/// is left out of its curve.
struct TrainingCurves {
  /// Loss and accuracy at the end, and steps, time and bytes to the target.
  Table table{};
  double target = 0;  // 0: none
  std::vector<std::string> clusters{};
  std::vector<TrainingCurve> cases{};  // in the order of the table's rows
};

std::vector<TrainingCurves> training_curves(std::span<const records::RunRecord> records);

/// What is said of each case; the table's columns.
ResultColumns<TrainingCurve> accuracy_columns(const TrainingCurves& curves);

/// Adds the tables to a document's, and a note of what their columns mean in front of its notes.
/// Without tables does nothing.
void add_accuracy(const std::vector<TrainingCurves>& training, Document& document);

}  // namespace paceline::report
