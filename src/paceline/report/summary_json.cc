// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/case/command.h"
#include "paceline/records/json.h"
#include "paceline/records/samples.h"
#include "paceline/report/csv.h"
#include "paceline/report/equal_training.h"
#include "paceline/report/summary_columns.h"

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

// Returns the JSON form of a table, from which the page's scripts draw it.
Json table_json(const Table& table) {
  Json out{{"title", table.title},
           {"columns", Json::array()},
           {"rows", Json::array()},
           {"text", table.text}};
  for (const Column& column : table.columns) {
    out["columns"].push_back({{"heading", column.heading()}, {"header", column.header()}});
  }
  for (const TableRow& row : table.rows) {
    out["rows"].push_back({{"cells", row.cells}, {"span", row.span}});
  }
  return out;
}

// Returns the notes that have a text.
Json notes_json(const std::vector<Note>& notes) {
  Json all = Json::array();
  for (const Note& note : notes) {
    if (!note.text.empty()) {
      all.push_back({{"term", note.term}, {"text", note.text}});
    }
  }
  return all;
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

std::int64_t window_ns(const RunRecord& run) {
  std::int64_t longest = 0;
  for (const records::RankSamples& rank : run.ranks) {
    longest = std::max(longest, rank.window_ns);
  }
  return longest;
}

// Returns the time of each step on its slowest rank.
std::vector<std::int64_t> slowest_step_ns(const RunRecord& run) {
  std::vector<std::int64_t> steps;
  for (const double seconds : records::slowest_step_s(run)) {
    steps.push_back(std::llround(seconds * 1e9));
  }
  return steps;
}

// Returns the examples per second of all ranks: the examples of the measured steps divided by the
// wall time of these steps on the slowest rank, or the rate that another program printed. Returns
// nothing if the run failed or has no steps, or if the number of examples is not stated or varies,
// as with embedding tables.
std::optional<double> examples_per_s_of(const RunRecord& run) {
  if (const std::string printed = records::fact_of(run.adapter, "reported_samples_per_s");
      !printed.empty()) {
    double value = 0;
    std::from_chars(printed.data(), printed.data() + printed.size(), value);
    return value > 0 ? std::optional(value) : std::nullopt;
  }
  std::size_t steps = 0;
  for (const records::RankSamples& rank : run.ranks) {
    steps = std::max(steps, rank.step_ns.size());
  }
  const cases::Case& c = run.configuration;
  const std::int64_t window = window_ns(run);
  if (run.error || steps == 0 || window == 0 || c.has_tables() || !c.states("batch_size") ||
      !c.states("ranks")) {
    return std::nullopt;
  }
  return static_cast<double>(steps) * c.batch_size * c.ranks * 1e9 / static_cast<double>(window);
}

// Returns every record with its steps' times, each on the slowest rank, in place of its samples,
// and whether it trained the same; and the distinct environments, of which each run has the index.
Json runs_json(std::span<const RunRecord> records) {
  const auto reasons = not_comparable(records);
  std::vector<records::Environment> environments;
  Json out{{"runs", Json::array()}, {"environments", Json::array()}};
  for (const RunRecord& run : records) {
    if (add_once(environments, run.environment)) {
      out["environments"].push_back(records::to_json(run.environment));
    }
    const auto place = std::ranges::find(environments, run.environment) - environments.begin();
    const auto reason = reasons.find(&run);
    out["runs"].push_back(
        {{"source", records::name_of(run.source)},
         {"experiment", run.experiment},
         {"started_at", run.started_at},
         {"run", run.run},
         {"configuration", records::to_json(run.configuration)},
         {"environment", place},
         {"step_ns", slowest_step_ns(run)},
         {"window_s", static_cast<double>(window_ns(run)) * 1e-9},
         {"samples_per_s", or_null(examples_per_s_of(run))},
         {"not_comparable", reason == reasons.end() ? Json() : Json(reason->second)},
         {"verified", run.verified},
         {"warnings", records::to_json(run.warnings)},
         {"error", or_null(run.error)},
         {"not_run", run.not_run()},
         {"adapter", run.adapter}});
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
