// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/validate_page.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "paceline/report/page.h"
#include "paceline/stats/quantile.h"

namespace paceline::cli {
namespace {

using report::Chart;
using report::ChartKind;
using report::Look;
using report::Point;
using report::Series;
using report::Sheet;
using validate::Judged;
using validate::Table;

/// A table's cells by family; those that are set apart are one of their own.
using Families = std::map<std::string, std::vector<const Judged*>>;

std::string unit_of(Table table) {
  return table == Table::kDdp || table == Table::kDdpBuckets
             ? "samples/s per device"
             : "samples/s";
}

std::string title_of(Table table) {
  switch (table) {
    case Table::kSurvey:
      return "ddl-benchmarks: seven methods";
    case Table::kFrameworks:
      return "DLPerf: frameworks";
    case Table::kDdp:
      return "PyTorch DDP, buckets of 25 MiB";
    case Table::kDdpBuckets:
      return "PyTorch DDP, buckets of 1 MiB";
    case Table::kDecentralized:
      return "BlueFog: neighbor averaging";
  }
  return "";
}

constexpr const char* kApart = "set apart";
constexpr double kLarge = 5;  // percent: errors that want an explanation

Point point_of(const Judged& cell, double along, double value) {
  return {.name = cell.id,
          .along = along,
          .value = value,
          .text = fmt::format(
              "predicted {:.5g}, published {:.5g}: {:+.1f} %\n{}",
              cell.predicted,
              cell.published,
              cell.error(),
              cell.apart || std::abs(cell.error()) > kLarge ? cell.explanation
                                                            : "")};
}

/// One series a family; open where the rows were never fitted to.
template <class At>
std::vector<Series> series_of(const Families& families, At at) {
  std::vector<Series> all;
  for (const auto& [name, cells] : families) {
    Series& one = all.emplace_back();
    one.name = name;
    one.look = cells.front()->apart ? Look::kOther : Look::kMeasured;
    for (const Judged* cell : cells) {
      one.points.push_back(at(*cell));
    }
  }
  return all;
}

Chart scatter(const Families& families, Table table) {
  Chart chart{
      .kind = ChartKind::kPoints,
      .title = "predicted against published",
      .note = "On the dashed line they are equal.",
      .along = {.label = "published", .unit = unit_of(table), .log = true},
      .value = {.label = "predicted", .unit = unit_of(table), .log = true}};
  chart.series = series_of(families, [](const Judged& cell) {
    return point_of(cell, cell.published, cell.predicted);
  });
  double low = HUGE_VAL, high = 0;
  for (const auto& [name, cells] : families) {
    for (const Judged* cell : cells) {
      low = std::min({low, cell->published, cell->predicted});
      high = std::max({high, cell->published, cell->predicted});
    }
  }
  chart.series.push_back({.name = "equal",
                          .look = Look::kReference,
                          .points = {{.along = low, .value = low},
                                     {.along = high, .value = high}}});
  return chart;
}

/// Rows that are set apart would stretch the axis for all others.
Chart residuals(Families families) {
  families.erase(kApart);
  Chart chart{.kind = ChartKind::kPoints,
              .title = "residuals",
              .note = "Above the dashed line the prediction is too fast.",
              .along = {.label = "devices", .log = true},
              .value = {.label = "predicted less published",
                        .unit = "% of the published throughput"}};
  int most = 1, least = INT32_MAX;
  chart.series = series_of(families, [](const Judged& cell) {
    return point_of(cell, cell.gpus, cell.error());
  });
  for (const auto& [name, cells] : families) {
    for (const Judged* cell : cells) {
      most = std::max(most, cell->gpus);
      least = std::min(least, cell->gpus);
    }
  }
  chart.series.push_back(
      {.name = "no error",
       .look = Look::kReference,
       .points = {{.along = static_cast<double>(least), .value = 0},
                  {.along = static_cast<double>(most), .value = 0}}});
  return chart;
}

Sheet::Line line_of(const std::string& name,
                    const std::vector<const Judged*>& cells) {
  std::vector<double> sizes;
  double sum = 0;
  const Judged* worst = cells.front();
  for (const Judged* cell : cells) {
    sizes.push_back(std::abs(cell->error()));
    sum += sizes.back();
    if (sizes.back() > std::abs(worst->error())) {
      worst = cell;
    }
  }
  constexpr double kTail = 0.9;
  Sheet::Line line;
  line.cells = {name,
                fmt::format("{}", cells.size()),
                fmt::format("{:.1f}", sum / static_cast<double>(cells.size())),
                fmt::format("{:.1f}", stats::median(sizes)),
                fmt::format("{:.1f}", stats::quantile(sizes, kTail)),
                fmt::format("{:+.1f}", worst->error()),
                worst->id};
  return line;
}

Sheet sheet_of(const Families& families) {
  Sheet sheet;
  sheet.heading = "absolute error";
  sheet.columns = {{"", "rows"},
                   {"", "cells"},
                   {"%", "mean"},
                   {"%", "median"},
                   {"%", "p90"},
                   {"%", "worst"},
                   {"", "worst cell"}};
  std::vector<const Judged*> all, multi_node;
  for (const auto& [name, cells] : families) {
    sheet.lines.push_back(line_of(name, cells));
    if (!cells.front()->apart) {
      all.insert(all.end(), cells.begin(), cells.end());
    }
  }
  std::ranges::copy_if(
      all, std::back_inserter(multi_node), &Judged::multi_node);
  if (!all.empty()) {
    sheet.lines.push_back(line_of("all, but what is set apart", all));
  }
  if (!multi_node.empty()) {
    sheet.lines.push_back(line_of("multi-node of them", multi_node));
  }
  return sheet;
}

}  // namespace

std::string validate_page(std::span<const Judged> cells) {
  report::Page page;
  page.title = "Published tables, predicted";
  for (const Table table : validate::kTables) {
    Families families;
    for (const Judged& cell : cells) {
      if (cell.table == table) {
        families[cell.apart ? kApart : cell.family].push_back(&cell);
      }
    }
    if (!families.empty()) {
      page.sections.push_back(
          {.title = title_of(table),
           .note =
               "Simulated from plans, with constants that were fitted to "
               "these cells; inputs are left out. What contradicts physics, "
               "seems bound by something else, or is of another set-up, is "
               "set apart: never fitted to, and not among the residuals; its "
               "cells say why.",
           .charts = {scatter(families, table), residuals(families)},
           .sheet = sheet_of(families)});
    }
  }
  return report::render_page(page);
}

}  // namespace paceline::cli
