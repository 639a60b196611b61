// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "paceline/records/samples.h"
#include "paceline/report/page_sections.h"
#include "paceline/report/page_series.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

/// Of a distribution; a long run's is thinned to this many quantiles.
constexpr std::size_t kMostQuantiles = 200;
constexpr std::size_t kMostOutside = 60;

// All steps of all runs, in the scale's unit, ascending.
std::vector<double> sorted_steps(const Case& one, const Scale& scale) {
  std::vector<double> all;
  for (const records::RunRecord* run : one.measured()) {
    for (const double seconds : slowest_step_s(*run)) {
      all.push_back(seconds * scale.factor);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

Box box_of(const Row& row,
           const std::vector<double>& sorted,
           const Scale& scale) {
  Box box{.name = name_with_ranks(row),
          .low = stats::quantile_sorted(sorted, 0.05),
          .lower_quartile = stats::quantile_sorted(sorted, 0.25),
          .median = stats::quantile_sorted(sorted, 0.5),
          .upper_quartile = stats::quantile_sorted(sorted, 0.75),
          .high = stats::quantile_sorted(sorted, 0.95)};
  box.text = fmt::format("{:.{}f}", box.median, scale.decimals);
  // The farthest ones, where there are many.
  for (std::size_t i = 0; i < sorted.size() && i < kMostOutside; ++i) {
    if (sorted[i] < box.low) {
      box.outside.push_back(sorted[i]);
    }
  }
  for (std::size_t i = 0; i < sorted.size() && i < kMostOutside; ++i) {
    const double value = sorted[sorted.size() - 1 - i];
    if (value > box.high) {
      box.outside.push_back(value);
    }
  }
  return box;
}

std::vector<Point> distribution(const std::vector<double>& sorted) {
  std::vector<Point> points{{.along = sorted.front(), .value = 0}};
  const std::size_t n = std::min(sorted.size(), kMostQuantiles);
  for (std::size_t i = 1; i <= n; ++i) {
    const std::size_t rank = i * sorted.size() / n;
    points.push_back({.along = sorted[rank - 1],
                      .value = 100 * double(rank) / double(sorted.size())});
  }
  return points;
}

}  // namespace

StepTimes step_times(const TableView& view) {
  const Scale scale = time_scale(view.table.rows);
  const Axis time{"step time", std::string(scale.unit)};
  StepTimes charts{
      {.kind = ChartKind::kBoxes,
       .title = "Step times",
       .note = "Of the slowest rank in each step. Box: the middle half, with "
               "the median; whiskers: 5th to 95th percentile; dots: steps "
               "outside.",
       .value = time},
      {.kind = ChartKind::kSteps,
       .title = "Share of steps that took at most so long",
       .note = "The more upright, the steadier; the farther left, the faster.",
       .along = time,
       .value = {"steps", "%", false, true}}};
  for (std::size_t i = 0; i < view.table.rows.size(); ++i) {
    const Row& row = view.table.rows[i];
    const std::vector<double> sorted = sorted_steps(view.group.cases[i], scale);
    if (row.failed() || sorted.empty()) {
      continue;
    }
    series_for(charts.boxes, row).boxes.push_back(box_of(row, sorted, scale));
    charts.steps.series.push_back(
        {name_with_ranks(row), look_of(row), distribution(sorted)});
  }
  return charts;
}

Chart exposed_communication(const Table& table) {
  const Scale scale = time_scale(table.rows);
  Chart chart{
      .kind = ChartKind::kBars,
      .title = "Exposed communication",
      .note =
          "Median step minus that of the same step without "
          "communication: what hiding all of it would save. Less "
          "is better.",
      .value = {"exposed per step", std::string(scale.unit), false, true}};
  for (const Row& row : table.rows) {
    if (row.exposed_s) {
      series_for(chart, row)
          .points.push_back(
              point_of(name_with_ranks(row), *row.exposed_s, scale));
    }
  }
  explain_whiskers(chart);
  return chart;
}

}  // namespace paceline::report
