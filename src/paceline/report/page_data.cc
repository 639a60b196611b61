// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/experiment/command.h"
#include "paceline/report/accuracy.h"
#include "paceline/report/cases.h"
#include "paceline/report/console.h"
#include "paceline/report/fields.h"
#include "paceline/report/link_curves.h"
#include "paceline/report/page.h"
#include "paceline/report/python_report.h"
#include "paceline/report/summary_table.h"
#include "paceline/report/table.h"
#include "paceline/report/text.h"
#include "paceline/report/value_format.h"

namespace paceline::report {
namespace {

using records::RunRecord;

Json table_json(const Table& table) {
  Json out{{"title", table.title},
           {"columns", Json::array()},
           {"rows", Json::array()},
           {"text", table.text}};
  for (const Column& column : table.columns) {
    out["columns"].push_back(
        {{"heading", column.heading()}, {"header", column.header()}});
  }
  for (const TableRow& row : table.rows) {
    out["rows"].push_back({{"cells", row.cells}, {"span", row.span}});
  }
  return out;
}

Json notes_json(const std::vector<Note>& notes) {
  Json all = Json::array();
  for (const Note& note : notes) {
    all.push_back({{"term", note.term}, {"text", note.text}});
  }
  return all;
}

// A table that the report of frameworks has, for readers without scripts.
Table table_from(const Json& json) {
  Table table{.title = json["title"]};
  for (const Json& column : json["columns"]) {
    table.columns.push_back({.name = column["header"]});
  }
  table.columns.front().align = Align::kLeft;
  for (const Json& row : json["rows"]) {
    table.rows.push_back({.cells = row["cells"]});
  }
  return table;
}

// In the unit of `format`, with the text that tables show; null where there is
// none.
Json estimate_json(const std::optional<stats::Estimate>& estimate,
                   const ValueFormat& format) {
  if (!estimate) {
    return nullptr;
  }
  Json out{{"value", estimate->value * format.factor},
           {"text", format.show(estimate)}};
  if (estimate->interval) {
    out["low"] = estimate->interval->low * format.factor;
    out["high"] = estimate->interval->high * format.factor;
    out["within_run"] = estimate->basis == stats::Basis::kWithinRun;
  }
  return out;
}

// Bound and error bar of a prediction in words; empty for other cases.
Json prediction_json(const CaseSummary& one) {
  Json notes = Json::array();
  const auto add = [&notes](const char* term, const std::string& text) {
    if (!text.empty()) {
      notes.push_back({{"term", term}, {"text", printable(text)}});
    }
  };
  if (one.predicted) {
    add("bound", records::words_of(one.predicted->bound));
    add("sharper bound", records::sharper_words(one.predicted->bound));
    add("how far off",
        one.predicted->error_bar ? records::words_of(*one.predicted->error_bar)
                                 : "");
  }
  return notes;
}

Json case_json(const CaseSummary& one, const Case& runs, const Page& page) {
  Json records = Json::array();
  for (const RunRecord* run : runs.runs) {
    records.push_back(run - page.records.data());
  }
  const bool repeatable = one.source == records::Source::kMeasured ||
                          one.source == records::Source::kExternal;
  const ValueFormat percent = percent_format();
  return {
      {"label", printable(one.label)},
      {"valid", is_valid(runs)},
      {"records", std::move(records)},
      {"failed", one.failed()},
      {"baseline", one.baseline ? Json(printable(*one.baseline)) : Json()},
      {"efficiency", estimate_json(one.efficiency, percent)},
      {"command",
       repeatable ? Json(printable(experiment::command_of(one.configuration)))
                  : Json()},
      {"prediction", prediction_json(one)}};
}

Json links_json(const GroupSummary& group, const ValueFormat& time) {
  Json all = Json::array();
  for (const LinkCurves& curves : link_curves(group)) {
    Json lines = Json::array();
    for (const LinkCurve& line : curves.lines) {
      Json points = Json::array();
      for (const LinkPoint& point : line.points) {
        points.push_back({{"gbit_per_s", point.gbit_per_s},
                          {"case", point.row - group.rows.data()},
                          {"valid", point.valid()}});
      }
      lines.push_back(
          {{"name", printable(line.name)}, {"points", std::move(points)}});
    }
    all.push_back({{"of", describe(curves)},
                   {"table", table_json(crossover_table(curves, time))},
                   {"lines", std::move(lines)}});
  }
  return all;
}

Json group_json(const GroupSummary& group,
                const CaseGroup& cases,
                const Table& table,
                const Page& page) {
  const ValueFormat time = time_format(group.rows);
  const ValueFormat rate = rate_format(group.rows);
  Json out{{"table", table_json(table)},
           {"time",
            {{"unit", time.unit},
             {"per_second", time.factor},
             {"decimals", time.decimals}}},
           {"cases", Json::array()},
           {"links", links_json(group, time)}};
  std::vector<const records::Configuration*> configurations;
  for (const CaseSummary& one : group.rows) {
    configurations.push_back(&one.configuration);
  }
  const auto strategies = short_strategies(configurations);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const CaseSummary& one = group.rows[i];
    Json object = case_json(one, cases.rows[i], page);
    object["strategy"] = printable(strategies[i]);
    object["step"] =
        one.failed() ? Json() : estimate_json(one.step_s->median, time);
    object["throughput"] = estimate_json(one.examples_per_s, rate);
    object["exposed"] = estimate_json(one.exposed_s, time);
    out["cases"].push_back(std::move(object));
  }
  return out;
}

// The points of a curve as [step, seconds, MB, loss, accuracy in %]; null for a
// loss that is not finite and for no accuracy.
Json training_json(const TrainingCurves& curves) {
  Json out{
      {"table", table_json(curves.table)},
      {"target", curves.target},
      {"classifies", curves.cases.front().points.front().accuracy.has_value()},
      {"clusters", curves.clusters},
      {"cases", Json::array()}};
  for (const TrainingCurve& one : curves.cases) {
    Json points = Json::array();
    for (const TrainedPoint& at : one.points) {
      points.push_back({at.step,
                        at.seconds,
                        at.bytes * 1e-6,
                        std::isfinite(at.loss) ? Json(at.loss) : Json(),
                        at.accuracy ? Json(100 * *at.accuracy) : Json()});
    }
    Json steps = Json::array();
    for (const auto& step_s : one.predicted_step_s) {
      steps.push_back(step_s ? Json(*step_s) : Json());
    }
    out["cases"].push_back({{"name", one.name},
                            {"points", std::move(points)},
                            {"predicted_step_s", std::move(steps)}});
  }
  return out;
}

// The names of the experiments, at most three.
std::string default_title(std::span<const RunRecord> records) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  for (const RunRecord& record : records) {
    add_once(names, record.experiment.empty() ? "records" : record.experiment);
  }
  const std::size_t left = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - left);
  return fmt::format("{}{}",
                     fmt::join(names, ", "),
                     left > 0 ? fmt::format(" and {} more", left) : "");
}

bool has_frameworks(const Page& page) {
  return std::ranges::any_of(page.records, [](const RunRecord& one) {
    return !one.configuration.framework.empty();
  });
}

}  // namespace

Json page_data(const Page& page) {
  const std::vector<GroupSummary> groups = summarize(page.records);
  const std::vector<CaseGroup> cases = group_tables(page.records);
  Document document = summary_document(groups, Detail::kFull);
  Json training = Json::array();
  std::vector<Table> accuracies;
  for (TrainingCurves& curves : training_curves(page.records)) {
    training.push_back(training_json(curves));
    accuracies.push_back(std::move(curves.table));
  }
  add_accuracy(std::move(accuracies), document);
  Json frameworks;
  if (has_frameworks(page)) {
    frameworks = python_report_data("dlperf", page.records);
    for (const Json& one : frameworks["results"]) {
      document.tables.push_back(table_from(one["throughput"]));
      document.tables.push_back(table_from(one["speed_up"]));
    }
  }
  Json data{{"title",
             printable(page.title.empty() ? default_title(page.records)
                                          : page.title)},
            {"text", console_text(document)},
            {"groups", Json::array()},
            {"training", std::move(training)},
            {"notes", notes_json(document.notes)},
            {"origins", Json::array()}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    data["groups"].push_back(
        group_json(groups[i], cases[i], document.tables[i], page));
  }
  data["frameworks"] = std::move(frameworks);
  for (const Origin& origin : page.origins) {
    data["origins"].push_back(
        fmt::format("{}, record {}", printable(origin.file), origin.number));
  }
  return data;
}

}  // namespace paceline::report
