// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/validate_sheets.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "paceline/stats/quantile.h"
#include "paceline/validate/switches.h"

namespace paceline::cli {
namespace {

using report::Sheet;
using validate::Judged;
using validate::TableResult;

/// Where a line has its mean and its 90th percentile.
constexpr std::size_t kMean = 2, kTail = 4;

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
  constexpr double kMost = 0.9;
  Sheet::Line line;
  line.cells = {name,
                fmt::format("{}", cells.size()),
                fmt::format("{:.1f}", sum / static_cast<double>(cells.size())),
                fmt::format("{:.1f}", stats::median(sizes)),
                fmt::format("{:.1f}", stats::quantile(sizes, kMost)),
                fmt::format("{:+.1f}", worst->error()),
                worst->id};
  return line;
}

/// How far off the cells are that are not set apart: mean, 90th percentile.
std::vector<std::string> errors_of(const std::vector<Judged>& cells,
                                   bool multi_node) {
  std::vector<const Judged*> chosen;
  for (const Judged& cell : cells) {
    if (!cell.apart && (cell.multi_node || !multi_node)) {
      chosen.push_back(&cell);
    }
  }
  if (chosen.empty()) {
    return {"-", "-"};
  }
  const std::vector<std::string> all = line_of("", chosen).cells;
  return {all[kMean], all[kTail]};
}

std::vector<report::Grid::Column> overview_columns(bool unseen) {
  const std::string fitted = "error on fitted cells, %";
  const std::string series = "a series left out, %";
  const std::string decided = "decided by looking at cells";
  std::vector<report::Grid::Column> columns{{"", "table"},
                                            {"", "cells"},
                                            {fitted, "mean"},
                                            {fitted, "p90"},
                                            {fitted, "multi-node mean"},
                                            {fitted, "multi-node p90"}};
  if (unseen) {
    columns.insert(columns.end(),
                   {{series, "mean"},
                    {series, "p90"},
                    {series, "multi-node mean"},
                    {series, "multi-node p90"}});
  }
  columns.insert(columns.end(),
                 {{decided, "constants fitted"},
                  {decided, "fixed numbers"},
                  {decided, "switches"}});
  return columns;
}

}  // namespace

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

Sheet overview_sheet(const std::vector<TableResult>& tables) {
  const bool unseen = std::ranges::any_of(
      tables, [](const TableResult& it) { return !it.unseen.empty(); });
  Sheet sheet{.heading = "errors, and what cells have decided",
              .columns = overview_columns(unseen)};
  for (const TableResult& it : tables) {
    const validate::Freedom freedom = validate::freedom_of(it.table);
    std::vector<std::string> cells{
        std::string(validate::name_of(it.table)),
        fmt::to_string(std::ranges::count(it.cells, false, &Judged::apart))};
    const auto add = [&cells](const std::vector<Judged>& judged) {
      for (const bool multi_node : {false, true}) {
        std::ranges::move(errors_of(judged, multi_node),
                          std::back_inserter(cells));
      }
    };
    add(it.cells);
    if (unseen) {
      add(it.unseen.empty() ? std::vector<Judged>{} : it.unseen.front().cells);
    }
    cells.push_back(fmt::to_string(freedom.constants));
    cells.push_back(fmt::format("{} of {}", freedom.chosen, freedom.numbers));
    cells.push_back(fmt::to_string(freedom.switches));
    sheet.lines.push_back({.cells = std::move(cells)});
  }
  return sheet;
}

}  // namespace paceline::cli
