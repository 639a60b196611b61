// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/validate_sheets.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "paceline/validate/score.h"
#include "paceline/validate/switches.h"

namespace paceline::cli {
namespace {

using report::Sheet;
using validate::Judged;
using validate::TableResult;

validate::Score score_of(const std::vector<const Judged*>& cells) {
  std::vector<validate::Miss> misses;
  for (const Judged* cell : cells) {
    misses.push_back(
        {.error = cell->error(), .group = cell->group, .id = cell->id});
  }
  return validate::score(misses);
}

Sheet::Line line_of(const std::string& name,
                    const std::vector<const Judged*>& cells) {
  const validate::Score score = score_of(cells);
  Sheet::Line line;
  line.cells = {name,
                fmt::format("{}", score.cells),
                fmt::format("{:.1f}", score.mean),
                validate::interval_words(score.interval),
                fmt::format("{:.1f}", score.median),
                fmt::format("{:.1f}", score.p90),
                fmt::format("{:+.1f}", score.worst),
                score.worst_id};
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
  const validate::Score score = score_of(chosen);
  return {fmt::format("{:.1f}", score.mean), fmt::format("{:.1f}", score.p90)};
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
                   {"%", "95 % interval of it"},
                   {"%", "median"},
                   {"%", "p90"},
                   {"%", "worst"},
                   {"", "worst cell"}};
  std::vector<const Judged*> all, multi_node, narrow;
  for (const auto& [name, cells] : families) {
    sheet.lines.push_back(line_of(name, cells));
    if (!cells.front()->apart) {
      all.insert(all.end(), cells.begin(), cells.end());
    }
  }
  std::ranges::copy_if(
      all, std::back_inserter(multi_node), &Judged::multi_node);
  std::ranges::remove_copy_if(
      multi_node, std::back_inserter(narrow), &Judged::scattered);
  if (!all.empty()) {
    sheet.lines.push_back(line_of("all, but what is set apart", all));
  }
  if (!multi_node.empty()) {
    sheet.lines.push_back(line_of("multi-node of them", multi_node));
  }
  if (!narrow.empty() && narrow.size() < multi_node.size()) {
    sheet.lines.push_back(
        line_of("multi-node, scattered rows left out", narrow));
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
