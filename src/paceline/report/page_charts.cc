// SPDX-License-Identifier: Apache-2.0
// A chart as what page/charts.js reads, and as a table.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/report/layout.h"
#include "paceline/report/page_html.h"

namespace paceline::report {
namespace {

using nlohmann::ordered_json;

std::string_view name_of(ChartKind kind) {
  switch (kind) {
    case ChartKind::kBars:
      return "bars";
    case ChartKind::kBoxes:
      return "boxes";
    case ChartKind::kLines:
      return "lines";
    case ChartKind::kPoints:
      return "points";
    case ChartKind::kSteps:
      break;
  }
  return "steps";
}

std::string_view name_of(Look look) {
  switch (look) {
    case Look::kMeasured:
      return "measured";
    case Look::kOther:
      return "other";
    case Look::kReference:
      break;
  }
  return "reference";
}

ordered_json axis_json(const Axis& axis) {
  return {{"label", axis.label},
          {"unit", axis.unit},
          {"log", axis.log},
          {"from_zero", axis.from_zero}};
}

ordered_json point_json(const Point& point) {
  ordered_json out{{"name", printable(point.name)},
                   {"along", point.along},
                   {"value", point.value},
                   {"text", point.text}};
  if (point.interval) {
    out["low"] = point.interval->low;
    out["high"] = point.interval->high;
    out["within_run"] = point.within_run;
  }
  if (point.mark) {
    out["mark"] = *point.mark;
  }
  return out;
}

ordered_json box_json(const Box& box) {
  return {{"name", printable(box.name)},
          {"low", box.low},
          {"lower_quartile", box.lower_quartile},
          {"median", box.median},
          {"upper_quartile", box.upper_quartile},
          {"high", box.high},
          {"outside", box.outside},
          {"text", box.text}};
}

bool is_finite(const Point& point) {
  return std::isfinite(point.along) && std::isfinite(point.value);
}

std::string header_of(const Axis& axis) {
  return axis.unit.empty() ? axis.label
                           : fmt::format("{}, {}", axis.label, axis.unit);
}

std::string text_of(const Point& point) {
  return point.text.empty() ? fmt::format("{:.4g}", point.value) : point.text;
}

void add_boxes(const Chart& chart, Sheet& sheet) {
  const std::string unit = header_of(chart.value);
  sheet.columns = {{"", "case"},
                   {unit, "p5"},
                   {unit, "p25"},
                   {unit, "median"},
                   {unit, "p75"},
                   {unit, "p95"}};
  for (const Series& series : chart.series) {
    for (const Box& box : series.boxes) {
      Sheet::Line& line = sheet.lines.emplace_back();
      line.cells.push_back(box.name);
      for (const double value : {box.low,
                                 box.lower_quartile,
                                 box.median,
                                 box.upper_quartile,
                                 box.high}) {
        line.cells.push_back(fmt::format("{:.4g}", value));
      }
    }
  }
}

void add_bars(const Chart& chart, Sheet& sheet) {
  sheet.columns = {{"", "case"}, {"", header_of(chart.value)}};
  if (!chart.mark.empty()) {
    sheet.columns.push_back({"", chart.mark});
  }
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      Sheet::Line& line = sheet.lines.emplace_back();
      line.cells = {point.name, text_of(point)};
      if (!chart.mark.empty()) {
        line.cells.push_back(point.mark ? fmt::format("{:.4g}", *point.mark)
                                        : "-");
      }
    }
  }
}

void add_points(const Chart& chart, Sheet& sheet) {
  sheet.columns = {{"", "series"},
                   {"", header_of(chart.along)},
                   {"", header_of(chart.value)}};
  // Points that nothing joins have names of their own.
  const bool named =
      chart.kind == ChartKind::kPoints &&
      std::ranges::any_of(chart.series, [](const Series& series) {
        return std::ranges::any_of(
            series.points, [](const Point& it) { return !it.name.empty(); });
      });
  if (named) {
    sheet.columns.insert(sheet.columns.begin() + 1, {"", "point"});
  }
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      if (named && series.look == Look::kReference) {
        continue;  // a line without points
      }
      Sheet::Line& line = sheet.lines.emplace_back();
      line.cells = {
          series.name, fmt::format("{:.4g}", point.along), text_of(point)};
      if (named) {
        line.cells.insert(line.cells.begin() + 1, point.name);
      }
    }
  }
}

}  // namespace

ordered_json chart_json(const Chart& chart) {
  ordered_json out{{"kind", name_of(chart.kind)},
                   {"title", chart.title},
                   {"along", axis_json(chart.along)},
                   {"value", axis_json(chart.value)},
                   {"mark", chart.mark},
                   {"series", ordered_json::array()}};
  for (const Series& series : chart.series) {
    ordered_json one{{"name", printable(series.name)},
                     {"look", name_of(series.look)}};
    one["points"] = ordered_json::array();
    for (const Point& point : series.points) {
      if (is_finite(point)) {
        one["points"].push_back(point_json(point));
      }
    }
    one["boxes"] = ordered_json::array();
    for (const Box& box : series.boxes) {
      one["boxes"].push_back(box_json(box));
    }
    out["series"].push_back(std::move(one));
  }
  return out;
}

Sheet chart_sheet(const Chart& chart) {
  Sheet sheet;
  sheet.heading = chart.title;
  switch (chart.kind) {
    case ChartKind::kSteps:
      break;
    case ChartKind::kBoxes:
      add_boxes(chart, sheet);
      break;
    case ChartKind::kBars:
      add_bars(chart, sheet);
      break;
    default:
      add_points(chart, sheet);
  }
  return sheet;
}

}  // namespace paceline::report
