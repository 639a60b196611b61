// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/case/same.h"
#include "paceline/records/samples.h"
#include "paceline/report/cases.h"
#include "paceline/report/text.h"
#include "paceline/stats/interval.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using Point = TrainedPoint;

/// A predicted step time of a case on the cluster of its configuration.
struct StepPrediction {
  cases::Case configuration;
  double step_s = 0;

  bool of(const cases::Case& c) const {
    using C = cases::Case;
    return (configuration.data.empty() || configuration.data == c.data) &&
           cases::equal_in(configuration, c, {&C::model, &C::ranks, &C::batch_size, &C::strategy});
  }
};

std::vector<StepPrediction> step_predictions_of(std::span<const records::RunRecord> records) {
  std::vector<StepPrediction> step_predictions;
  for (const records::RunRecord& record : records) {
    const auto steps = records::slowest_step_s(record);
    if (record.source == records::Source::kPredicted && !steps.empty()) {
      step_predictions.push_back({record.configuration, stats::mean(steps)});
    }
  }
  return step_predictions;
}

struct CaseRuns {
  CaseRecords records;  // may differ in their seeds
  std::vector<std::vector<Point>> runs;

  const cases::Case& configuration() const { return records.configuration(); }
};

/// Returns the first evaluation whose accuracy, or whose loss if there is no accuracy, meets
/// `target`. Returns nothing if none does.
std::optional<Point> reached(const std::vector<Point>& points, double target) {
  const auto found = std::ranges::find_if(points, [&](const Point& point) {
    return point.accuracy ? *point.accuracy >= target : point.loss <= target;
  });
  return found == points.end() ? std::nullopt : std::optional(*found);
}

/// Returns the median over runs and its interval as text: "0.953 [0.941, 0.962]". All three are
/// multiplied by `factor`. The upper end of the interval is at most `most` before that.
std::string median_text(const std::vector<double>& values, double factor, const char* format,
                        double most = std::numeric_limits<double>::infinity()) {
  const auto estimate = median_over(values);
  if (!estimate) {
    return values.empty() ? std::string(kMissingValueText) : "not finite";
  }
  const auto shown = [&](double value) {
    return fmt::format(fmt::runtime(format), value * factor);
  };
  std::string text = shown(estimate->value);
  if (estimate->interval && estimate->runs >= stats::kFewestRuns) {
    text += fmt::format(" [{}, {}]", shown(estimate->interval->low),
                        shown(std::min(most, estimate->interval->high)));
  }
  return text;
}

/// Returns the predicted step time of the case on `cluster`, in seconds. If several records predict
/// it, the last one counts.
std::optional<double> predicted_step_s(const CaseRuns& one, const std::string& cluster,
                                       std::span<const StepPrediction> step_predictions) {
  std::optional<double> step_s;
  for (const StepPrediction& clock : step_predictions) {
    if (cluster_without_layers(clock.configuration.cluster) == cluster &&
        clock.of(one.configuration())) {
      step_s = clock.step_s;
    }
  }
  return step_s;
}

/// Returns the clusters for which a case of the table has a prediction, each once.
std::vector<std::string> clusters_of(const std::vector<CaseRuns>& cases,
                                     std::span<const StepPrediction> step_predictions) {
  std::vector<std::string> clusters;
  for (const StepPrediction& clock : step_predictions) {
    const bool used = std::ranges::any_of(cases, [&](const CaseRuns& one) {
      return one.configuration().target != 0 && clock.of(one.configuration());
    });
    if (used) {
      add_once(clusters, cluster_without_layers(clock.configuration.cluster));
    }
  }
  return clusters;
}

std::string title_of(const cases::Case& c) {
  std::string title = fmt::format("{} on {}, split {}, batch {} per rank, {} steps", c.model,
                                  c.data, c.split, c.batch_size, c.warmup + c.steps);
  if (c.target != 0) {
    title += fmt::format(", target {}", c.target);
  }
  return printable(title);
}

/// Returns the cluster as printable text.  The hash of its costs is left out if no other cluster
/// has this name.
std::string cluster_name(const std::string& cluster, const std::vector<std::string>& all) {
  const auto name = [](const std::string& text) { return text.substr(0, text.find("; prices ")); };
  const auto same = std::ranges::count(all, name(cluster), name);
  return printable(same == 1 ? name(cluster) : cluster);
}

/// Returns the case's training curve: at each evaluation the medians over the runs that have as
/// many evaluations as the first run.
std::vector<Point> median_points(const CaseRuns& one) {
  std::vector<Point> points = one.runs.front();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto median = [&](auto member) {
      std::vector<double> values;
      for (const std::vector<Point>& run : one.runs) {
        if (run.size() == points.size()) {
          values.push_back(member(run[i]));
        }
      }
      return stats::median(values);
    };
    const bool classifies = points[i].accuracy.has_value();
    points[i] = {.step = points[i].step,
                 .seconds = median([](const Point& it) { return it.seconds; }),
                 .bytes = median([](const Point& it) { return it.bytes; }),
                 .loss = median([](const Point& it) { return it.loss; })};
    if (classifies) {
      points[i].accuracy = median([](const Point& it) { return it.accuracy.value_or(0); });
    }
  }
  return points;
}

TrainingCurves curves_of(const std::vector<CaseRuns>& cases,
                         std::span<const StepPrediction> step_predictions) {
  TrainingCurves curves{.target = cases.front().configuration().target};
  const std::vector<std::string> clusters = clusters_of(cases, step_predictions);
  for (const std::string& cluster : clusters) {
    curves.clusters.push_back(cluster_name(cluster, clusters));
    curves.table.text += fmt::format("{}Cluster {}: {}.", curves.table.text.empty() ? "" : "\n",
                                     curves.clusters.size(), curves.clusters.back());
  }
  std::vector<CaseRecords> records;
  std::ranges::transform(cases, std::back_inserter(records), &CaseRuns::records);
  const std::vector<std::string> names = unique_labels(records);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CaseRuns& one = cases[i];
    TrainingCurve& curve = curves.cases.emplace_back(
        TrainingCurve{.name = printable(names[i]),
                      .ranks = one.configuration().ranks,
                      .runs = one.runs.size(),
                      .reached = training_results(one.runs, curves.target),
                      .points = median_points(one)});
    for (const std::string& cluster : clusters) {
      curve.predicted_step_s.push_back(predicted_step_s(one, cluster, step_predictions));
    }
  }
  const Table table = accuracy_columns(curves).table(curves.cases);
  curves.table.title = title_of(cases.front().configuration());
  curves.table.columns = table.columns;
  curves.table.rows = table.rows;
  return curves;
}

}  // namespace

std::string cluster_without_layers(const std::string& cluster) {
  return cluster.substr(0, cluster.find("; layers "));
}

std::vector<TrainedPoint> trained_points(const records::RunRecord& record) {
  std::vector<TrainedPoint> points;
  double ranks = 0;
  for (const records::RankSamples& rank : record.ranks) {
    if (rank.evaluations.empty()) {
      continue;
    }
    ++ranks;
    points.resize(rank.evaluations.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const records::Evaluation& one = rank.evaluations[i];
      Point& point = points[i];
      point.step = static_cast<double>(one.step);
      point.seconds = std::max(point.seconds, static_cast<double>(one.trained_ns) * 1e-9);
      point.bytes = std::max(point.bytes, static_cast<double>(one.sent_bytes));
      point.loss += one.loss.value_or(std::nan(""));
      if (one.accuracy) {
        point.accuracy = point.accuracy.value_or(0) + *one.accuracy;
      }
    }
  }
  for (Point& point : points) {
    point.loss /= ranks;
    if (point.accuracy) {
      *point.accuracy /= ranks;
    }
  }
  return points;
}

TrainingResults training_results(std::span<const std::vector<TrainedPoint>> runs, double target) {
  TrainingResults all;
  for (const std::vector<TrainedPoint>& points : runs) {
    all.losses.push_back(points.back().loss);
    if (points.back().accuracy) {
      all.accuracies.push_back(*points.back().accuracy);
    }
    if (const auto at = reached(points, target); at && target != 0) {
      all.steps.push_back(at->step);
      all.seconds.push_back(at->seconds);
      all.bytes.push_back(at->bytes);
    }
  }
  return all;
}

std::optional<stats::Estimate> median_over(const std::vector<double>& values) {
  std::vector<std::vector<double>> runs;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      return std::nullopt;
    }
    runs.push_back({value});
  }
  return stats::median_of_runs(runs);
}

void add_accuracy(const std::vector<TrainingCurves>& training, Document& document) {
  if (training.empty()) {
    return;
  }
  const Note note{"accuracy",
                  "of the ranks' networks on the test samples, the mean over ranks; "
                  "time is the slowest rank's, without evaluations, bytes those of the "
                  "rank that sent most; medians over runs and seeds, with 95 % "
                  "intervals from three on; predicted: the steps to the target times "
                  "a predicted step, of predictions among the records"};
  document.notes.insert(document.notes.begin(), note);
  std::ranges::transform(training, std::back_inserter(document.tables), &TrainingCurves::table);
}

ResultColumns<TrainingCurve> accuracy_columns(const TrainingCurves& curves) {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  const auto median = [](std::vector<double> TrainingResults::*values, double factor,
                         const char* format, double most) {
    return [=](const TrainingCurve& one) {
      return median_text(one.reached.*values, factor, format, most);
    };
  };
  ResultColumns<TrainingCurve> all;
  all.add({.name = "case", .align = Align::kLeft})
      .cell([](const TrainingCurve& one) { return without_ranks(one.name, one.ranks); })
      .data("name", &TrainingCurve::name);
  all.add({"ranks"}).data("ranks", &TrainingCurve::ranks);
  all.add({"runs"}).data("runs", &TrainingCurve::runs);
  all.add({"loss", "at the end"}).cell(median(&TrainingResults::losses, 1, "{:.4g}", kUnbounded));
  all.add({"accuracy %", "at the end"})
      .cell(median(&TrainingResults::accuracies, 100, "{:.1f}", 1));
  all.add({"reached", "to the target"}).cell([target = curves.target](const TrainingCurve& one) {
    return target == 0 ? std::string(kMissingValueText)
                       : fmt::format("{} of {}", one.reached.steps.size(), one.runs);
  });
  all.add({"steps", "to the target"})
      .cell(median(&TrainingResults::steps, 1, "{:.0f}", kUnbounded));
  all.add({"s", "to the target"}).cell(median(&TrainingResults::seconds, 1, "{:.4g}", kUnbounded));
  all.add({"MB sent", "to the target"})
      .cell(median(&TrainingResults::bytes, 1e-6, "{:.4g}", kUnbounded));
  for (std::size_t i = 0; i < curves.clusters.size(); ++i) {
    all.add({fmt::format("s on cluster {}", i + 1), "predicted"})
        .cell([i](const TrainingCurve& one) {
          const auto step_s = one.predicted_step_s[i];
          return step_s ? median_text(one.reached.steps, *step_s, "{:.4g}")
                        : std::string(kMissingValueText);
        });
  }
  return all;
}

std::vector<TrainingCurves> training_curves(std::span<const records::RunRecord> records) {
  std::vector<std::pair<std::string, std::vector<CaseRuns>>> groups;
  for (const records::RunRecord& record : records) {
    std::vector<Point> points = trained_points(record);
    if (points.empty()) {
      continue;
    }
    const cases::Case& c = record.configuration;
    std::vector<CaseRuns>& cases = find_or_add(groups, title_of(c));
    auto found = std::ranges::find_if(cases, [&](const CaseRuns& one) {
      return cases::equal_except(one.configuration(), c, {&cases::Case::seed});
    });
    if (found == cases.end()) {
      found = cases.insert(found, CaseRuns());
    }
    found->records.runs.push_back(&record);
    found->runs.push_back(std::move(points));
  }
  const std::vector<StepPrediction> step_predictions = step_predictions_of(records);
  std::vector<TrainingCurves> curves;
  for (const auto& [title, cases] : groups) {
    curves.push_back(curves_of(cases, step_predictions));
  }
  return curves;
}

}  // namespace paceline::report
