// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/examination.h"

#include <iterator>

#include <fmt/format.h>

#include "paceline/base/file.h"
#include "paceline/validate/earned.h"
#include "paceline/validate/examination_text.h"
#include "paceline/validate/left_out.h"
#include "paceline/validate/presets.h"

namespace paceline::validate {
namespace {

constexpr std::size_t kWorst = 8;

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

/// What every table is examined with.
struct Desk {
  const ExaminationOptions& options;
  const std::vector<Cell>& cells;
  Examinees& examinees;
  Constants& constants;
  LeftOut& left_out;
};

std::vector<Unseen> write_protocols(const Desk& desk,
                                    const std::vector<const Cell*>& cells,
                                    Text out) {
  const Table table = cells.front()->table;
  std::vector<Unseen> unseen;
  for (const auto& [what, group] : leavings_of(table)) {
    write_header(fmt::format("{}, left out: {}", name_of(table), what), out);
    const Errors errors = cross_validate(desk.examinees, cells, group);
    write_scores(errors, group, out);
    desk.left_out[{table, what}] = errors;
    unseen.push_back({what, judged(errors, group)});
  }
  if (table == Table::kSurvey) {
    write_header("survey, a new network from 3 cells of it", out);
    const Errors errors = new_network(desk.examinees, cells);
    const auto network = [](const Cell& cell) { return cell.key[2]; };
    write_scores(errors, network, out);
    unseen.push_back(
        {"a network but for 3 of its cells", judged(errors, network)});
  }
  return unseen;
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

TableResult examine_table(Table table, const Desk& desk, Text out) {
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
  write_scores(errors, series_of, out);
  Errors every =
      errors_of(examinee, set_apart(desk.cells, table), desk.constants);
  const bool apart = !every.empty();
  every.insert(errors.begin(), errors.end());
  if (apart) {
    write_score("all, with what is set apart", score(every), out);
  }
  write_freedom(table, desk.constants, out);
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
  TableResult result{.table = table, .cells = judged(every, series_of)};
  if (options.protocols) {
    result.unseen = write_protocols(desk, chosen, out);
  }
  return result;
}

void write_apart(Examinee& examinee,
                 const std::vector<Cell>& cells,
                 const Constants& constants,
                 Text out) {
  write_header("rows set apart, never fitted to", out);
  Errors all;
  const auto write = [&](const std::string& name, Table table) {
    const Errors errors =
        errors_of(examinee, set_apart(cells, table), constants);
    write_score(name, score(errors), out);
    all.insert(errors.begin(), errors.end());
  };
  write("survey, predicted as 10GbE", Table::kSurvey);
  write("frameworks, bound by something else", Table::kFrameworks);
  write("decentralized, another set-up", Table::kDecentralized);
  write_worst(all, all.size(), out);
}

/// The program's own predictions with the cluster files beside the tables.
Errors of_presets(const std::vector<Cell>& cells,
                  const std::filesystem::path& reference,
                  Text out) {
  Errors all;
  write_header("predict with the files of clusters/, several hosts", out);
  for (const Table table :
       {Table::kSurvey, Table::kDdp, Table::kDecentralized}) {
    const Errors errors = preset_errors(
        cells, scorable(cells, table), reference.parent_path() / "clusters");
    write_scores(errors, series_of, out);
    all.insert(errors.begin(), errors.end());
  }
  return all;
}

}  // namespace

Examination examine(const ExaminationOptions& options) {
  const std::vector<Cell> cells = read_cells(options.reference);
  Examinees examinees(cells, options.reference, options.threads);
  Constants constants;
  LeftOut left_out;
  Examination found;
  const Text out = std::back_inserter(found.text);
  for (const InputRule& rule : input_rules()) {
    fmt::format_to(out, "input of {}: {}\n", name_of(rule.table), rule.what);
  }
  fmt::format_to(
      out, "shown of a new network: {}\n", fmt::join(shown_cells(), ", "));
  fmt::format_to(out,
                 "95 %: where the mean would lie had others been published of "
                 "what is left out (series, models), where these are 8 or "
                 "more\n"
                 "scattered: the runs behind a row have a standard deviation "
                 "above 5 %\n");
  for (const Table table : kTables) {
    // The comparison of buckets stands with kDdp.
    if (table != Table::kDdpBuckets && options.table.value_or(table) == table) {
      found.tables.push_back(examine_table(
          table, {options, cells, examinees, constants, left_out}, out));
    }
  }
  if (!options.table.has_value()) {
    write_apart(examinees.first(), cells, constants, out);
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
  return found;
}

}  // namespace paceline::validate
