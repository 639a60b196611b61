// SPDX-License-Identifier: Apache-2.0
// Step times of strategies against the rate of the link, and their crossings.
#include <algorithm>

#include <fmt/format.h>

#include "paceline/report/link_curves.h"
#include "paceline/report/page_sections.h"
#include "paceline/report/page_series.h"

namespace paceline::report {
namespace {

/// More lines than that cannot be told apart.
constexpr std::size_t kMostLines = 12;

// The points of a line that are valid, or those that are not.
Series series_of(const LinkCurve& line, bool valid, const Scale& scale) {
  Series series;
  for (const LinkPoint& one : line.points) {
    if (one.valid() == valid) {
      series.look = look_of(*one.row);
      Point point = point_of(one.row->label, one.row->step_s->median, scale);
      point.along = one.gbit_per_s;
      series.points.push_back(std::move(point));
    }
  }
  series.name = valid ? line.strategy : line.strategy + " (INVALID)";
  return series;
}

Chart chart_of(const LinkCurves& curves, const Scale& scale) {
  Chart chart{.kind = ChartKind::kLines,
              .title = "Step time by link rate",
              .note = fmt::format("Median step of the slowest rank; {}.",
                                  facts_of(curves)),
              .along = {"link rate", "Gbit/s", true},
              .value = {"median step time", std::string(scale.unit)}};
  bool has_invalid = false;
  for (const bool valid : {true, false}) {
    for (const LinkCurve& line : curves.lines) {
      Series series = series_of(line, valid, scale);
      if (!series.points.empty()) {
        has_invalid = has_invalid || !valid;
        chart.series.push_back(std::move(series));
      }
    }
  }
  if (has_invalid) {
    chart.note +=
        " Lines marked INVALID join cases whose engine was slower than the "
        "link: their times are this machine's, and no crossing counts them.";
  }
  if (chart.series.size() > kMostLines) {
    chart.note += fmt::format(" Of {} lines, the first {} are drawn.",
                              chart.series.size(),
                              kMostLines);
    chart.series.resize(kMostLines);
  }
  explain_whiskers(chart);
  return chart;
}

}  // namespace

std::vector<Section> link_sections(const Table& table) {
  const Scale scale = time_scale(table.rows);
  std::vector<Section> sections;
  for (const LinkCurves& curves : link_curves(table)) {
    Section& section =
        sections.emplace_back(Section{.title = "Step time against the link",
                                      .note = crossing_words(curves),
                                      .charts = {chart_of(curves, scale)},
                                      .inner = true});
    Sheet sheet = crossing_sheet(curves, scale);
    if (!sheet.lines.empty()) {
      section.sheet = std::move(sheet);
    }
  }
  return sections;
}

}  // namespace paceline::report
