// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_json.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/case/command.h"
#include "paceline/records/json.h"
#include "paceline/report/csv.h"
#include "paceline/report/summary_columns.h"
#include "paceline/report/table_json.h"

namespace paceline::report {
namespace {

using records::RunRecord;

/// Returns the text "code: what was seen" for each warning.
std::string warnings_text(const std::vector<records::Warning>& warnings) {
  std::vector<std::string> texts;
  for (const records::Warning& one : warnings) {
    texts.push_back(fmt::format("{}: {}", one.code, one.seen));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

Json format_json(const ValueFormat& format) {
  return {{"unit", format.unit}, {"factor", format.factor}, {"decimals", format.decimals}};
}

// Returns the bound and the error bar of a prediction as JSON; empty for other cases.
Json prediction_json(const CaseSummary& one) {
  if (!one.predicted) {
    return Json::array();
  }
  const records::PredictionDetails& predicted = *one.predicted;
  return notes_json(
      {{"bound", records::words_of(predicted.bound)},
       {"sharper bound", records::sharper_bound_text(predicted.bound)},
       {"how far off", predicted.error_bar ? records::words_of(*predicted.error_bar) : ""}});
}

// Returns the command that measures the case again; null for predictions and imports.
Json command_json(const CaseSummary& one) {
  const bool repeatable =
      one.source == records::Source::kMeasured || one.source == records::Source::kExternal;
  return repeatable ? Json(cases::command_of(one.configuration)) : Json();
}

Json case_json(const CaseSummary& one) {
  Json object = summary_fields().object(one);
  object["configuration"] = records::to_json(one.configuration);
  object["warnings"] = records::to_json(one.warnings);
  object["errors"] = one.errors;
  return object;
}

// Returns what a table's row refers to: the indices of its case and of its records, its command and
// its prediction.
Json row_json(const CaseSummary& one, std::size_t index, const RunRecord* first) {
  Json records = Json::array();
  for (const RunRecord* run : one.runs) {
    records.push_back(run - first);
  }
  return {{"case", index},
          {"records", std::move(records)},
          {"valid", one.valid()},
          {"command", command_json(one)},
          {"prediction", prediction_json(one)}};
}

Json training_json(const TrainingCurves& curves) {
  static const auto points = Fields<TrainedPoint>()
                                 .add("step", &TrainedPoint::step)
                                 .add("s", &TrainedPoint::seconds)
                                 .add("sent_bytes", &TrainedPoint::bytes)
                                 .add("loss", &TrainedPoint::loss, finite_or_null)
                                 .add("accuracy", &TrainedPoint::accuracy);
  Json out{{"table", table_json(curves.table)},
           {"target", curves.target},
           {"clusters", curves.clusters},
           {"cases", Json::array()}};
  const auto columns = accuracy_columns(curves).fields();
  for (const TrainingCurve& one : curves.cases) {
    Json steps = Json::array();
    for (const auto& step_s : one.predicted_step_s) {
      steps.push_back(or_null(step_s));
    }
    out["cases"].push_back(columns.object(one));
    out["cases"].back()["points"] = points.array(one.points);
    out["cases"].back()["predicted_step_s"] = std::move(steps);
  }
  return out;
}

// Returns the cases, their tables and the notes:
//   cases     for each case the fields of the CSV form, its configuration, warnings and errors
//   tables    the tables of Detail::kFull; for each row the indices of its case and of its runs,
//   its
//             command and its short strategy; the units and decimals of the values
//   training  the tables and curves of the cases that trained on data
//   notes     what the columns of the tables mean
Json summary_json(const SummaryReport& report, std::span<const RunRecord> records) {
  Json out{{"cases", Json::array()},
           {"tables", Json::array()},
           {"training", Json::array()},
           {"notes", notes_json(report.document.notes)}};
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    const GroupSummary& group = report.groups[i];
    Json table = table_json(report.document.tables[i]);
    table["time"] = format_json(time_format(group.rows));
    table["rate"] = format_json(rate_format(group.rows));
    table["cases"] = Json::array();
    std::vector<const cases::Case*> configurations;
    for (const CaseSummary& one : group.rows) {
      configurations.push_back(&one.configuration);
    }
    const auto strategies = short_strategies(configurations);
    for (std::size_t row = 0; row < group.rows.size(); ++row) {
      table["cases"].push_back(row_json(group.rows[row], out["cases"].size(), records.data()));
      table["cases"].back()["strategy"] = strategies[row];
      out["cases"].push_back(case_json(group.rows[row]));
    }
    out["tables"].push_back(std::move(table));
  }
  for (const TrainingCurves& curves : report.training) {
    out["training"].push_back(training_json(curves));
  }
  return out;
}

}  // namespace

const Fields<CaseSummary>& summary_fields() {
  static const auto fields = case_columns({}, Detail::kFull).fields();
  return fields;
}

std::string render_csv(std::span<const RunRecord> records) {
  Table table = summary_fields().table();
  for (const char* name : {"errors", "warnings"}) {
    table.columns.push_back({.name = name});
  }
  for (const GroupSummary& group : summarize(records)) {
    for (const CaseSummary& one : group.rows) {
      table.rows.push_back(summary_fields().row(one));
      table.rows.back().cells.push_back(fmt::format("{}", fmt::join(one.errors, "; ")));
      table.rows.back().cells.push_back(warnings_text(one.warnings));
    }
  }
  return csv_text(table);
}

Json report_json(const SummaryReport& report, std::span<const RunRecord> records) {
  Json out{{"version", 1}};
  out.update(summary_json(report, records));
  out.update(runs_json(records));
  return out;
}

std::string render_json(std::span<const RunRecord> records) {
  return json_text(report_json(summary_report(records, Detail::kFull), records), 2) + "\n";
}

}  // namespace paceline::report
