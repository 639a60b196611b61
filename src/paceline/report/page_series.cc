// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page_series.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/record/json.h"

namespace paceline::report {

Look look_of(const Row& row) {
  return row.source == record::Source::kMeasured ||
                 row.source == record::Source::kExternal
             ? Look::kMeasured
             : Look::kOther;
}

Series& series_for(Chart& chart, const Row& row) {
  const std::string name(record::name_of(row.source));
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
  }
  point.text = scale.show(std::optional(estimate));
  return point;
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
