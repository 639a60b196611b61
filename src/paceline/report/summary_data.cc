// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_data.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/records/json.h"
#include "paceline/report/comparison_data.h"
#include "paceline/report/csv.h"
#include "paceline/report/summary_columns.h"

namespace paceline::report {
namespace {

/// "code: what was seen", of each.
std::string warnings_text(const std::vector<records::Warning>& warnings) {
  std::vector<std::string> texts;
  for (const records::Warning& one : warnings) {
    texts.push_back(fmt::format("{}: {}", one.code, one.seen));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

const Fields<CaseSummary>& summary_fields() {
  static const auto fields = case_columns({}, Detail::kFull).fields();
  return fields;
}

std::string render_csv(std::span<const records::RunRecord> records) {
  Table table = summary_fields().table();
  for (const char* name : {"errors", "warnings"}) {
    table.columns.push_back({.name = name});
  }
  for (const GroupSummary& group : summarize(records)) {
    for (const CaseSummary& one : group.rows) {
      table.rows.push_back(summary_fields().row(one));
      table.rows.back().cells.push_back(
          fmt::format("{}", fmt::join(one.errors, "; ")));
      table.rows.back().cells.push_back(warnings_text(one.warnings));
    }
  }
  return csv_text(table);
}

std::string render_json(std::span<const records::RunRecord> records) {
  Json cases = Json::array();
  for (const GroupSummary& group : summarize(records)) {
    for (const CaseSummary& one : group.rows) {
      Json object = summary_fields().object(one);
      object["configuration"] = records::to_json(one.configuration);
      object["warnings"] = records::to_json(one.warnings);
      object["errors"] = one.errors;
      cases.push_back(std::move(object));
    }
  }
  Json out{{"version", 1}, {"cases", std::move(cases)}};
  out.update(comparison_data(records));
  return json_text(out, 2) + "\n";
}

}  // namespace paceline::report
