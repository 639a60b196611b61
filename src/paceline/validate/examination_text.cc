// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/examination_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "paceline/validate/explanations.h"
#include "paceline/validate/fixed.h"
#include "paceline/validate/switches.h"

namespace paceline::validate {
namespace {

void write_constants(Table table, const Constants& constants, Text out) {
  for (const ConstantInfo& info : constant_table()) {
    if (info.table == table) {
      fmt::format_to(out,
                     "  {:<32}{:>10.4g} {:<9} {}\n",
                     info.name,
                     constants[info.id],
                     info.unit,
                     info.meaning);
    }
  }
}

void write_fixed(Table table, Text out) {
  for (const FixedInfo& info : fixed_table()) {
    if (info.table == table) {
      fmt::format_to(out,
                     "  {:<32}{:>10.4g} {:<9} fixed{}: {}\n",
                     info.name,
                     info.value,
                     info.unit,
                     info.chosen ? ", chosen among few by the cells" : "",
                     info.source);
    }
  }
}

void write_switches(Table table, Text out) {
  for (const SwitchInfo& info : switch_table()) {
    if (info.table == table) {
      fmt::format_to(
          out, "  {:<32}{} ({})\n", info.name, info.what, info.source);
    }
  }
}

}  // namespace

void write_score(const std::string& name, const Score& score, Text out) {
  if (score.cells == 0) {
    return;
  }
  fmt::format_to(out,
                 "  {:<34}{:>5}{:>8.2f}{:>9}{:>8.2f}{:>8.2f}{:>8.1f}  {}\n",
                 name,
                 score.cells,
                 score.mean,
                 interval_words(score.interval),
                 score.median,
                 score.p90,
                 std::abs(score.worst),
                 score.worst_id);
}

void write_header(const std::string& title, Text out) {
  fmt::format_to(out,
                 "\n{}\n  {:<34}{:>5}{:>8}{:>9}{:>8}{:>8}{:>8}  {}\n",
                 title,
                 "absolute error, %",
                 "cells",
                 "mean",
                 "95 %",
                 "median",
                 "p90",
                 "worst",
                 "worst cell");
}

void write_scores(const Errors& errors, const Grouping& group, Text out) {
  std::vector<std::string> families;
  for (const auto& [cell, error] : errors) {
    const std::string family = family_of(*cell);
    if (std::ranges::find(families, family) == families.end()) {
      families.push_back(family);
    }
  }
  std::ranges::sort(families);
  for (const std::string& family : families) {
    write_score(family,
                score(
                    errors,
                    [&](const Cell& cell) { return family_of(cell) == family; },
                    group),
                out);
  }
  write_score("all", score(errors, group), out);
  const Score several = score(errors, multi_node, group);
  write_score("multi-node", several, out);
  const Score narrow = score(
      errors,
      [](const Cell& cell) { return multi_node(cell) && !is_scattered(cell); },
      group);
  if (narrow.cells < several.cells) {
    write_score("multi-node, scattered rows left out", narrow, out);
  }
}

void write_cells(const Errors& errors, Text out) {
  for (const auto& [cell, error] : errors) {
    fmt::format_to(out,
                   "  {:<52}{:>12.2f}{:>12.2f}{:>+8.1f} %\n",
                   cell->id,
                   *cell->published * (1 + error / 100),
                   *cell->published,
                   error);
  }
}

void write_worst(const Errors& errors, std::size_t most, Text out) {
  std::vector<std::pair<double, const Cell*>> sorted;
  for (const auto& [cell, error] : errors) {
    sorted.emplace_back(std::abs(error), cell);
  }
  std::ranges::sort(sorted, std::greater<>());
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) {
    const Cell& cell = *sorted[i].second;
    fmt::format_to(out,
                   "  {:<44}{:>+7.1f} %  {}\n",
                   cell.id,
                   errors.at(&cell),
                   explanation_of(cell));
  }
}

void write_bucket_differences(const std::vector<BucketDifference>& all,
                              bool rows,
                              Text out) {
  double size = 0, off = 0, worst = 0;
  for (const BucketDifference& one : all) {
    size += std::abs(one.published);
    off += std::abs(one.predicted - one.published);
    worst = std::max(worst, std::abs(one.predicted - one.published));
  }
  const auto count = static_cast<double>(all.size());
  fmt::format_to(out,
                 "\nbuckets of 1 MiB against 25 MiB, percent of the iteration\n"
                 "  {} rows: published difference {:.2f} on average, predicted "
                 "within {:.2f}, {:.1f} at most\n",
                 all.size(),
                 size / count,
                 off / count,
                 worst);
  for (const BucketDifference& one : all) {
    if (rows) {
      fmt::format_to(out,
                     "  {:<44}predicted {:>+5.1f}, published {:>+5.1f}\n",
                     one.id,
                     one.predicted,
                     one.published);
    }
  }
}

void write_freedom(Table table, const Constants& constants, Text out) {
  fmt::format_to(out, "\n{}, constants\n", name_of(table));
  write_constants(table, constants, out);
  write_fixed(table, out);
  fmt::format_to(
      out, "\n{}, switches chosen by looking at cells\n", name_of(table));
  write_switches(table, out);
  fmt::format_to(
      out, "\n{}: {}\n", name_of(table), in_words(freedom_of(table)));
}

}  // namespace paceline::validate
