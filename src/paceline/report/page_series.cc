// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page_series.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/records/json.h"

namespace paceline::report {

Look look_of(const Row& row) {
  return row.source == records::Source::kMeasured ||
                 row.source == records::Source::kExternal
             ? Look::kMeasured
             : Look::kOther;
}

Series& series_for(Chart& chart, const Row& row) {
  const std::string name(records::name_of(row.source));
  const auto found = std::find_if(
      chart.series.begin(), chart.series.end(), [&](const Series& series) {
        return series.name == name;
      });
  return found != chart.series.end()
             ? *found
             : chart.series.emplace_back(Series{name, look_of(row)});
}

Point point_of(std::string name,
               const stats::Estimate& estimate,
               const Scale& scale) {
  Point point{.name = std::move(name), .value = estimate.value * scale.factor};
  if (estimate.interval) {
    point.interval = {estimate.interval->low * scale.factor,
                      estimate.interval->high * scale.factor};
    point.within_run = estimate.basis == stats::Basis::kWithinRun;
  }
  point.text = scale.show(std::optional(estimate));
  return point;
}

void explain_whiskers(Chart& chart) {
  Bases bases;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      bases.add(stats::Estimate{.value = point.value,
                                .interval = point.interval,
                                .basis = point.within_run
                                             ? stats::Basis::kWithinRun
                                             : stats::Basis::kRuns});
    }
  }
  for (Series& series : chart.series) {
    for (Point& point : series.points) {
      if (point.interval && point.within_run) {
        point.text += bases.mark();
      }
    }
  }
  if (const std::string words = whisker_words(bases); !words.empty()) {
    chart.note += (chart.note.empty() ? "" : " ") + words;
  }
}

std::string name_with_ranks(const Row& row) {
  if (row.label.find(" ranks=") != std::string::npos) {
    return row.label;  // namesakes are told apart by it already
  }
  const int ranks = row.configuration.ranks;
  return fmt::format(
      "{}, {} {}", row.label, ranks, ranks == 1 ? "rank" : "ranks");
}

}  // namespace paceline::report
