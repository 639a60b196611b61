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

/// Returns the cluster text of a prediction without the hash of the layer times.  That hash differs
/// between any two layer profiles.
std::string cluster_without_layers(const std::string& cluster);

/// One evaluation during a training run, summarized over the ranks that train.  In a TrainingCurve
/// each value is the median over the runs.
struct TrainedPoint {
  double step = 0;
  double seconds = 0;  // training time of the slowest rank
  double bytes = 0;    // bytes sent by the rank that sent most
  double loss = 0;     // mean over the ranks; not finite if one rank's loss is not
  std::optional<double> accuracy{};
};

/// Returns the evaluations of one run; empty if the run did not train on data.
std::vector<TrainedPoint> trained_points(const records::RunRecord& record);

/// The results of a case's runs: those of each run's last evaluation, and those of the first
/// evaluation at which accuracy or loss meets the target.
struct TrainingResults {
  std::vector<double> losses;
  std::vector<double> accuracies;             // from 0 to 1; only classifiers have one
  std::vector<double> steps, seconds, bytes;  // needed to meet the target, of the runs that met it
};

/// Collects the results of `runs`, each of which has at least one point.  A `target` of 0 means
/// that there is none, so that no run reaches it.
TrainingResults training_results(std::span<const std::vector<TrainedPoint>> runs, double target);

/// Returns the median over runs; absent if there are no values or if one of them is not finite.
std::optional<stats::Estimate> median_over(const std::vector<double>& values);

/// The training progress of a case, from which its row of the table is made.
struct TrainingCurve {
  std::string name;
  int ranks = 1;
  std::size_t runs = 0;
  TrainingResults reached{};
  std::vector<TrainedPoint> points{};
  /// The predicted time of a step on each cluster that the table has a column for; absent if no
  /// prediction is known.
  std::vector<std::optional<double>> predicted_step_s{};
};

/// A table of cases with equal network, data, split, batch size, number of steps and target.  The
/// runs of a case may differ in their seeds.  A run that has another number of evaluations than the
/// first run of its case is not part of the curve.
struct TrainingCurves {
  /// The columns: loss and accuracy after the last step; steps, time and bytes until the target was
  /// met.
  Table table{};
  double target = 0;  // 0: there is no target
  std::vector<std::string> clusters{};
  std::vector<TrainingCurve> cases{};  // in the order of the table's rows
};

std::vector<TrainingCurves> training_curves(std::span<const records::RunRecord> records);

/// Returns the columns of the table of training results, which has a row for each case.
ResultColumns<TrainingCurve> accuracy_columns(const TrainingCurves& curves);

/// Adds the tables to those of `document`, and puts a note that explains their columns before its
/// notes.  Does nothing if there are no tables.
void add_accuracy(const std::vector<TrainingCurves>& training, Document& document);

}  // namespace paceline::report
