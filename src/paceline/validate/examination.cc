// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/examination.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "paceline/base/file.h"
#include "paceline/validate/earned.h"
#include "paceline/validate/explanations.h"
#include "paceline/validate/fixed.h"
#include "paceline/validate/judged.h"
#include "paceline/validate/presets.h"
#include "paceline/validate/score.h"
#include "paceline/validate/switches.h"

namespace paceline::validate {
namespace {

using Text = std::back_insert_iterator<std::string>;

void write_score(const std::string& name, const Score& score, Text out) {
  if (score.cells == 0) {
    return;
  }
  fmt::format_to(out,
                 "  {:<34}{:>5}{:>8.2f}{:>8.2f}{:>8.2f}{:>8.1f}  {}\n",
                 name,
                 score.cells,
                 score.mean,
                 score.median,
                 score.p90,
                 score.worst,
                 score.worst_cell->id);
}

void write_header(const std::string& title, Text out) {
  fmt::format_to(out,
                 "\n{}\n  {:<34}{:>5}{:>8}{:>8}{:>8}{:>8}  {}\n",
                 title,
                 "absolute error, %",
                 "cells",
                 "mean",
                 "median",
                 "p90",
                 "worst",
                 "worst cell");
}

void write_scores(const Errors& errors, Text out) {
  std::vector<std::string> families;
  for (const auto& [cell, error] : errors) {
    const std::string family = family_of(*cell);
    if (std::ranges::find(families, family) == families.end()) {
      families.push_back(family);
    }
  }
  std::ranges::sort(families);
  for (const std::string& family : families) {
    write_score(
        family,
        score(errors,
              [&](const Cell& cell) { return family_of(cell) == family; }),
        out);
  }
  write_score("all", score(errors), out);
  write_score("multi-node", score(errors, multi_node), out);
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

constexpr std::size_t kWorst = 8;

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

/// Cells of a table that are fitted, and so scored, together.
std::vector<const Cell*> fitted_with(const std::vector<Cell>& cells,
                                     Table table) {
  std::vector<const Cell*> chosen = scorable(cells, table);
  if (table == Table::kDdp) {
    const auto buckets = scorable(cells, Table::kDdpBuckets);
    chosen.insert(chosen.end(), buckets.begin(), buckets.end());
  }
  return chosen;
}

/// Rows that are one experiment, or one simulation, are left out together:
/// those of one node, which stand under every network, and WFBP and
/// ByteScheduler on servers.
std::string survey_series(const Cell& cell) {
  const std::string& method =
      cell.key[0] == "ByteScheduler-PS" ? "WFBP-PS" : cell.key[0];
  return method + cell.key[1] + (multi_node(cell) ? cell.key[2] : "one node");
}

std::string series_of(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey:
      return survey_series(cell);
    case Table::kFrameworks:
    case Table::kDecentralized:
      return cell.key[0] + cell.key[1];
    case Table::kDdp:
    case Table::kDdpBuckets:
      return cell.key[0];
  }
  return "";
}

void write_protocols(Examinees& examinees,
                     const std::vector<const Cell*>& cells,
                     LeftOut& left_out,
                     Text out) {
  const Table table = cells.front()->table;
  const auto by = [&](const std::string& name, auto group) {
    constexpr std::size_t kFolds = 6;
    write_header(fmt::format("{}, left out: {}", name_of(table), name), out);
    const Errors errors = cross_validate(examinees, cells, group, kFolds);
    write_scores(errors, out);
    left_out[{table, name}] = errors;
  };
  constexpr int kMost = 32;
  by("a series", series_of);
  if (table == Table::kFrameworks) {
    by("32 devices of a series", [](const Cell& cell) {
      return cell.gpus() == kMost ? series_of(cell) : "";
    });
  }
  if (table == Table::kDdp) {
    by("a model's rows of more than one machine",
       [](const Cell& cell) { return multi_node(cell) ? cell.key[0] : ""; });
  }
  if (table != Table::kSurvey) {
    return;
  }
  by("a model", [](const Cell& cell) { return cell.key[1]; });
  by("a network, all of it but its rows of 4 devices",
     [](const Cell& cell) { return multi_node(cell) ? cell.key[2] : ""; });
  by("32 devices",
     [](const Cell& cell) { return cell.gpus() == kMost ? cell.key[3] : ""; });
  write_header("survey, a new network from 3 cells of it", out);
  write_scores(new_network(examinees, cells), out);
}

void write_predictions(Examinee& examinee,
                       const std::vector<Cell>& cells,
                       const Constants& constants,
                       const std::filesystem::path& path) {
  std::string text = "row_id,predicted_throughput\n";
  for (const Cell& cell : cells) {
    text += fmt::format(
        "{},{:.6g}\n", cell.id, examinee.samples_per_s(cell, constants));
  }
  write_atomically(path, text);
}

void fit_table(Examinee& examinee,
               const std::vector<const Cell*>& chosen,
               const std::vector<Constant>& ids,
               Constants& constants) {
  std::vector<Constants> starts = fit_starts();
  starts.push_back(constants);
  const Constants fitted = fit_to(examinee, chosen, ids, starts);
  for (const Constant id : ids) {
    constants[id] = fitted[id];
  }
}

/// What every table is examined with.
struct Desk {
  const ExaminationOptions& options;
  const std::vector<Cell>& cells;
  Examinees& examinees;
  Constants& constants;
  LeftOut& left_out;
};

void examine_table(Table table, const Desk& desk, Text out) {
  const ExaminationOptions& options = desk.options;
  Examinee& examinee = desk.examinees.first();
  const std::vector<const Cell*> chosen = fitted_with(desk.cells, table);
  const std::vector<Constant> ids = constants_of(table);
  if (options.fit) {
    fit_table(examinee, chosen, ids, desk.constants);
  }
  write_header(fmt::format("{}, constants fitted to these cells: {}",
                           name_of(table),
                           ids.size()),
               out);
  const Errors errors = errors_of(examinee, chosen, desk.constants);
  write_scores(errors, out);
  fmt::format_to(out, "\n{}, constants\n", name_of(table));
  write_constants(table, desk.constants, out);
  write_fixed(table, out);
  fmt::format_to(
      out, "\n{}, switches chosen by looking at cells\n", name_of(table));
  write_switches(table, out);
  fmt::format_to(
      out, "\n{}: {}\n", name_of(table), in_words(freedom_of(table)));
  fmt::format_to(out, "\n{}, worst cells\n", name_of(table));
  write_worst(errors, kWorst, out);
  if (table == Table::kDdp) {
    write_bucket_differences(
        bucket_differences(
            examinee, desk.cells, desk.constants, options.reference),
        options.cells,
        out);
  }
  if (options.cells) {
    fmt::format_to(out, "\n{}, predicted, published, error\n", name_of(table));
    write_cells(errors, out);
  }
  if (options.protocols) {
    write_protocols(desk.examinees, chosen, desk.left_out, out);
  }
}

void write_odd(Examinee& examinee,
               const std::vector<Cell>& cells,
               const Constants& constants,
               Text out) {
  std::vector<const Cell*> odd;
  for (const Cell& cell : cells) {
    if (contradicts_physics(cell) && cell.published.has_value()) {
      odd.push_back(&cell);
    }
  }
  write_header("rows that contradict physics, never fitted to", out);
  const Errors errors = errors_of(examinee, odd, constants);
  const auto write = [&](const std::string& name, Table table) {
    write_score(
        name,
        score(errors,
              [table](const Cell& cell) { return cell.table == table; }),
        out);
  };
  write("survey, predicted as 10GbE", Table::kSurvey);
  write("frameworks, bound by something else", Table::kFrameworks);
  write("decentralized, another set-up", Table::kDecentralized);
  write_worst(errors, errors.size(), out);
}

/// The program's own predictions with the cluster files beside the tables.
Errors of_presets(const std::vector<Cell>& cells,
                  const std::filesystem::path& reference,
                  Text out) {
  Errors all;
  write_header("predict with the files of clusters/, several nodes", out);
  for (const Table table :
       {Table::kSurvey, Table::kDdp, Table::kDecentralized}) {
    const Errors errors = preset_errors(
        cells, scorable(cells, table), reference.parent_path() / "clusters");
    write_scores(errors, out);
    all.insert(errors.begin(), errors.end());
  }
  return all;
}

}  // namespace

std::string examine(const ExaminationOptions& options) {
  const std::vector<Cell> cells = read_cells(options.reference);
  Examinees examinees(cells, options.reference, options.threads);
  Constants constants;
  LeftOut left_out;
  std::string text;
  const Text out = std::back_inserter(text);
  for (const InputRule& rule : input_rules()) {
    fmt::format_to(out, "input of {}: {}\n", name_of(rule.table), rule.what);
  }
  fmt::format_to(
      out, "shown of a new network: {}\n", fmt::join(shown_cells(), ", "));
  for (const Table table : kTables) {
    // The comparison of buckets stands with kDdp.
    if (table != Table::kDdpBuckets && options.table.value_or(table) == table) {
      examine_table(
          table, {options, cells, examinees, constants, left_out}, out);
    }
  }
  if (!options.table.has_value()) {
    write_odd(examinees.first(), cells, constants, out);
  }
  if (options.predictions.has_value()) {
    write_predictions(
        examinees.first(), cells, constants, *options.predictions);
  }
  if (options.earned.has_value()) {
    write_atomically(
        *options.earned,
        earned_rows(left_out, of_presets(cells, options.reference, out)));
  }
  return text;
}

}  // namespace paceline::validate
