// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/page_parts.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

constexpr std::size_t kMostSeries = 12;  // more cannot be told apart
constexpr Devices kOne{.nodes = 1, .devices = 1};

// The number of devices; with that of nodes where two rows have equally many.
std::string place_of(const Devices& devices, const FrameworkTable& table) {
  const auto rows =
      std::ranges::count(table.rows, devices.devices, &Devices::devices);
  return rows == 1
             ? fmt::to_string(devices.devices)
             : fmt::format(
                   "{} on {}", devices.devices, counted(devices.nodes, "node"));
}

// The figures of a column from its first row to its last, gaps left out.
Json points_of(const FrameworkColumn& column, const FrameworkTable& table) {
  Json points = Json::array();
  for (const Devices& devices : table.rows) {
    const auto cell = column.cells.find(devices);
    if (cell == column.cells.end() || !cell->second.rate) {
      continue;
    }
    const stats::Estimate& rate = *cell->second.rate;
    Json point{{"along", devices.devices},
               {"place", place_of(devices, table)},
               {"value", rate.value},
               {"text", printable(cell_text(cell->second))},
               {"speed_up", or_null(column.speed_up(devices))}};
    if (rate.interval && rate.runs >= stats::kFewestRuns) {
      point["low"] = rate.interval->low;
      point["high"] = rate.interval->high;
    }
    points.push_back(std::move(point));
  }
  return points;
}

Json results_json(const FrameworkResults& one) {
  const FrameworkTable& table = one.data;
  Json series = Json::array();
  Json left_out = Json::array();
  const auto leave_out = [&left_out](const FrameworkColumn& column,
                                     const char* why) {
    left_out.push_back({{"column", printable(column.title)}, {"why", why}});
  };
  for (const FrameworkColumn& column : table.columns) {
    Json points = points_of(column, table);
    if (one.excludes(column)) {
      leave_out(column, "not comparable");
    } else if (points.empty()) {
      leave_out(column, "it has no figure");
    } else if (series.size() == kMostSeries) {
      leave_out(column, "too many columns");
    } else {
      if (!column.speed_up(kOne)) {
        leave_out(column, "no speed-up: it has no figure on one device");
      }
      series.push_back(
          {{"name", printable(column.title)}, {"points", std::move(points)}});
    }
  }
  Json found = Json::array();
  for (const Finding& finding : one.findings) {
    found.push_back({{"column", printable(finding.column)},
                     {"text", printable(finding.text)}});
  }
  return {{"title", printable(table.model + ", " + table.title)},
          {"unit", table.unit},
          {"rows", table.rows.size()},
          {"imported", table.imported},
          {"throughput", table_json(one.throughput)},
          {"speed_up", table_json(one.speed_up)},
          {"footnotes", one.footnotes},
          {"series", std::move(series)},
          {"left_out", std::move(left_out)},
          {"findings", std::move(found)}};
}

}  // namespace

Json frameworks_json(const FrameworkReport& report) {
  Json results = Json::array();
  for (const FrameworkResults& one : report.results) {
    results.push_back(results_json(one));
  }
  return {{"period", report.period},
          {"table", table_json(report.frameworks)},
          {"options", notes_json(report.options)},
          {"remarks", notes_json(report.remarks)},
          {"results", std::move(results)}};
}

}  // namespace paceline::report
