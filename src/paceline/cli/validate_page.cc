// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/validate_page.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "paceline/cli/validate_sheets.h"
#include "paceline/report/page.h"
#include "paceline/validate/switches.h"

namespace paceline::cli {
namespace {

using report::Chart;
using report::ChartKind;
using report::Look;
using report::Point;
using report::Section;
using report::Series;
using validate::Judged;
using validate::Table;
using validate::TableResult;

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

/// Those of `cells` that stand in `table`.
Families families_of(const std::vector<Judged>& cells, Table table) {
  Families families;
  for (const Judged& cell : cells) {
    if (cell.table == table) {
      families[cell.apart ? kApart : cell.family].push_back(&cell);
    }
  }
  return families;
}

/// Of whatever table.
Families families_of(const std::vector<Judged>& cells) {
  Families families;
  for (const Judged& cell : cells) {
    families[cell.family].push_back(&cell);
  }
  return families;
}

Section table_section(const Families& families,
                      Table table,
                      const TableResult& result) {
  const std::string decided =
      table == result.table
          ? fmt::format("Of this table: {}.",
                        in_words(validate::freedom_of(table)))
          : fmt::format("Fitted and counted with {}.", title_of(result.table));
  return {.title = title_of(table),
          .note = fmt::format(
              "Simulated from plans, with constants that were fitted to these "
              "cells; inputs are left out. {} What contradicts physics, seems "
              "bound by something else, or is of another set-up, is set apart: "
              "never fitted to, and not among the residuals; its cells say "
              "why.",
              decided),
          .charts = {scatter(families, table), residuals(families)},
          .sheet = sheet_of(families)};
}

Section unseen_section(Table table, const validate::Unseen& unseen) {
  const Families families = families_of(unseen.cells);
  return {.title = fmt::format(
              "{}, left out: {}", validate::name_of(table), unseen.left_out),
          .note =
              "Each cell predicted by constants that were fitted without "
              "it. The choice of fixed numbers and switches had seen it.",
          .charts = {residuals(families)},
          .sheet = sheet_of(families),
          .inner = true};
}

}  // namespace

std::string validate_page(const validate::Examination& examination) {
  report::Page page;
  page.title = "Published tables, predicted";
  page.sections.push_back(
      {.title = "Errors, and what cells have decided",
       .note = "Absolute errors; what is set apart is not counted. The fewer "
               "constants are fitted, and numbers and switches chosen, the "
               "more the errors say. Intervals below: where the mean would "
               "lie, 95 %, had others been published of what is left out "
               "(series, models), where these are 8 or more. Scattered: the "
               "runs behind a row have a standard deviation above 5 %.",
       .sheet = overview_sheet(examination.tables)});
  for (const TableResult& result : examination.tables) {
    for (const Table table : validate::kTables) {
      const Families families = families_of(result.cells, table);
      if (!families.empty()) {
        page.sections.push_back(table_section(families, table, result));
      }
    }
    for (const validate::Unseen& unseen : result.unseen) {
      page.sections.push_back(unseen_section(result.table, unseen));
    }
  }
  return report::render_page(page);
}

}  // namespace paceline::cli
