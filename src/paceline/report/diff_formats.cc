// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_formats.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/records/json.h"
#include "paceline/report/command_output.h"
#include "paceline/report/diff_notes.h"
#include "paceline/report/fields.h"
#include "paceline/report/table.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

Json to_json(const std::vector<Difference>& differences) {
  Json out = Json::array();
  for (const Difference& d : differences) {
    out.push_back({{"name", d.name}, {"base", d.base}, {"test", d.test}});
  }
  return out;
}

Json to_json(const std::vector<CaseRecords>& cases) {
  Json out = Json::array();
  for (const CaseRecords& one : cases) {
    out.push_back(records::to_json(one.configuration()));
  }
  return out;
}

std::string_view name_of(RunOrder order) {
  static constexpr std::array<std::string_view, 3> kNames{"interleaved", "apart", "unknown"};
  return kNames.at(static_cast<std::size_t>(order));
}

// Returns {"version": 1, ...}: every value of every case, the differences, the cases without a
// partner and the warnings.
Json diff_json(const Diff& diff) {
  Json out{{"version", 1},
           {"base", diff.base_name},
           {"test", diff.test_name},
           {"compared", compared_time(diff).in_json},
           {"threshold", diff.options.threshold},
           {"significance", diff.options.significance},
           {"until", nullptr},
           {"regression", diff.regression()},
           {"decision", name_of(diff.decision())},
           {"unchanged_within", diff.unchanged_within()},
           {"missing", diff.missing},
           {"order", name_of(diff.order)},
           {"exact", diff.exact},
           {"arrangements", diff.arrangements},
           {"needed_runs", diff.needed_runs},
           {"runs_for_power", or_null(diff.runs_for_power)},
           {"power_change", diff.power_change}};
  if (diff.options.until) {
    out["until"] = {{"within", diff.options.until->within},
                    {"most_runs", diff.options.until->most}};
  }
  const auto fields = diff_columns(diff, {}).fields();
  out["cases"] = Json::array();
  for (const DiffRow& row : diff.rows) {
    out["cases"].push_back(fields.object(&row));
    out["cases"].back()["differences"] = to_json(row.cases.differences);
  }
  out["only_base"] = to_json(diff.only_base);
  out["only_test"] = to_json(diff.only_test);
  out["software_differences"] = to_json(diff.software);
  out["warnings"] = records::to_json(diff.warnings);
  return out;
}

// Returns one row per case; a missing value is an empty cell.
Table diff_csv(const Diff& diff) {
  const auto fields = diff_columns(diff, {}).fields();
  Table table = fields.table();
  table.columns.push_back({.name = "differences"});
  for (const DiffRow& row : diff.rows) {
    std::vector<std::string> words;
    for (const Difference& d : row.cases.differences) {
      words.push_back(text_of(d));
    }
    table.rows.push_back(fields.row(&row));
    table.rows.back().cells.push_back(fmt::format("{}", fmt::join(words, "; ")));
  }
  return table;
}

// Returns the rows of each table.
std::vector<DiffGroup> group_rows(const Diff& diff) {
  std::vector<DiffGroup> groups;
  if (diff.operations) {  // one table for all models and batch sizes
    groups.emplace_back();
    for (const DiffRow& row : diff.rows) {
      groups.back().rows.push_back(&row);
    }
    return groups;
  }
  for (const DiffRow& row : diff.rows) {
    add_to_table(groups, row.configuration(), &row);
  }
  return groups;
}

Table table_of(const Diff& diff, const DiffGroup& group) {
  Table table = diff_columns(diff, group).table(group.rows);
  table.title = compared_time(diff).title;
  if (table.title.empty()) {
    table.title = printable(model_and_batch(group.model, group.batch_size));
  }
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    table.rows[i].emphasized = is_change(group.rows[i]->verdict);
  }
  return table;
}

// Returns one table per model and batch size; below them the differences, the cases without a
// partner, how certain the comparison is, and every warning.
CommandOutput diff_output(const Diff& diff) {
  CommandOutput output{
      .header = {{"base", printable(diff.base_name)}, {"test", printable(diff.test_name)}},
      .notes = notes_of(diff),
      .csv = diff_csv(diff),
      .json = diff_json(diff)};
  for (const DiffGroup& group : group_rows(diff)) {
    output.tables.push_back(table_of(diff, group));
  }
  return output;
}

}  // namespace

std::vector<std::string> diff_format_names() {
  std::vector<std::string> names = output_format_names();
  names.emplace_back("ddp");
  return names;
}

std::string render_diff(std::string_view format, const Diff& diff) {
  return format == "ddp" ? render_diff_ddp(diff) : render_output(format, diff_output(diff));
}

}  // namespace paceline::report
