// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/records/json.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/diff_notes.h"
#include "paceline/report/fields.h"
#include "paceline/report/table.h"

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

std::string_view compared(const Diff& diff) {
  if (diff.wall_times) {
    return "wall time of commands";
  }
  if (diff.operations) {
    return "time of operations";
  }
  return diff.options.step_time == StepTime::kMean ? "mean step time" : "step time";
}

}  // namespace

Json diff_json(const Diff& diff) {
  Json out{{"version", 1},
           {"base", diff.base_name},
           {"test", diff.test_name},
           {"compared", compared(diff)},
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

Table diff_csv(const Diff& diff) {
  const auto fields = diff_columns(diff, {}).fields();
  Table table = fields.table();
  table.columns.push_back({.name = "differences"});
  for (const DiffRow& row : diff.rows) {
    std::vector<std::string> words;
    for (const Difference& d : row.cases.differences) {
      words.push_back(fmt::format("{}: {} -> {}", d.name, d.base, d.test));
    }
    table.rows.push_back(fields.row(&row));
    table.rows.back().cells.push_back(fmt::format("{}", fmt::join(words, "; ")));
  }
  return table;
}

}  // namespace paceline::report
