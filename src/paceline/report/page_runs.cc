// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "paceline/records/json.h"
#include "paceline/records/samples.h"
#include "paceline/report/command.h"
#include "paceline/report/page_figures.h"
#include "paceline/report/page_html.h"
#include "paceline/report/scale.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::RunRecord;
using records::Source;

std::string fact_of(const RunRecord& run, const char* name) {
  if (run.environment.hosts.empty()) {
    return std::string(kMissing);
  }
  const auto& facts = run.environment.hosts.front().facts;
  const auto found = facts.find(name);
  return found == facts.end() ? std::string(kMissing) : found->second;
}

std::string origin_of(const RunRecord& run, const Page& page) {
  const auto index = static_cast<std::size_t>(&run - page.records.data());
  if (index >= page.origins.size()) {
    return std::string(kMissing);
  }
  const Origin& origin = page.origins[index];
  return fmt::format("{}, record {}", origin.file, origin.number);
}

std::string verified_words(const RunRecord& run) {
  if (run.verified.empty()) {
    return std::string(kMissing);
  }
  for (const auto& [what, holds] : run.verified) {
    if (!holds) {
      return what + " FAILED";
    }
  }
  return "yes";
}

Sheet::Line run_line(const RunRecord& run,
                     const Page& page,
                     const Machines& machines) {
  Sheet::Line line{.cells = {fmt::to_string(run.run + 1),
                             run.started_at.empty() ? std::string(kMissing)
                                                    : run.started_at}};
  if (run.error) {
    line.sentence = fmt::format("failed: {}", *run.error);
    return line;
  }
  const std::vector<double> steps = slowest_step_s(run);
  line.cells.push_back(fmt::to_string(steps.size()));
  line.cells.push_back(steps.empty()
                           ? std::string(kMissing)
                           : fmt::format("{:.4g}", stats::median(steps) * 1e3));
  line.cells.push_back(verified_words(run));
  line.cells.push_back(fact_of(run, "load_average"));
  line.cells.push_back(fact_of(run, "cpu_pressure_percent"));
  line.cells.push_back(fmt::to_string(machines.number_of(run)));
  line.cells.push_back(origin_of(run, page));
  return line;
}

Sheet runs_sheet(const Case& one, const Page& page, const Machines& machines) {
  Sheet sheet{.heading = "Runs",
              .columns = {{"", "run"},
                          {"", "started (UTC)"},
                          {"", "steps"},
                          {"", "median step, ms"},
                          {"", "values verified"},
                          {"", "load average"},
                          {"", "CPU pressure, %"},
                          {"", "machine"},
                          {"", "record"}}};
  for (const RunRecord* run : one.runs) {
    sheet.lines.push_back(run_line(*run, page, machines));
  }
  return sheet;
}

std::string fact_html(std::string_view name, const std::string& value) {
  return value.empty() ? ""
                       : fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n",
                                     name,
                                     html_text(value));
}

std::string configuration_html(const records::Configuration& configuration) {
  const nlohmann::ordered_json values = records::to_json(configuration);
  std::string text;
  for (const auto& [key, value] : values.items()) {
    if (!value.is_null() && key != "discard") {
      std::string words = key;
      std::replace(words.begin(), words.end(), '_', ' ');
      text += fact_html(
          html_text(words),
          value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return "<dl class=\"facts\">\n" + text + "</dl>\n";
}

/// What the first run that predicts says beside its steps; empty: none does.
std::string prediction_html(const Case& one) {
  const auto found = std::ranges::find_if(one.runs, [](const RunRecord* run) {
    return run->predicted.has_value();
  });
  if (found == one.runs.end()) {
    return "";
  }
  const records::Predicted& it = *(*found)->predicted;
  return "<h4>Prediction</h4>\n<dl class=\"facts\">\n" +
         fact_html("bound", records::words_of(it.bound)) +
         fact_html("sharper bound", records::sharper_words(it.bound)) +
         fact_html("how far off",
                   it.error_bar ? records::words_of(*it.error_bar) : "") +
         "</dl>\n";
}

std::string case_html(const Case& one,
                      const std::string& label,
                      const std::string& anchor,
                      const Page& page,
                      const Machines& machines) {
  const Source source = one.first().source;
  std::string text = fmt::format(
      "<details class=\"case\" id=\"{}\">\n<summary>{} <span class=\"of\">{}, "
      "{} {}, {}</span></summary>\n",
      anchor,
      html_text(label),
      html_text(one.configuration().model),
      one.runs.size(),
      one.runs.size() == 1 ? "run" : "runs",
      records::name_of(source));
  if (source == Source::kMeasured || source == Source::kExternal) {
    text += fmt::format("<pre class=\"command\" tabindex=\"0\">{}</pre>\n",
                        html_text(command_of(one.configuration())));
  }
  return text + sheet_html(runs_sheet(one, page, machines)) +
         prediction_html(one) + "<h4>Configuration</h4>\n" +
         configuration_html(one.configuration()) + "</details>\n";
}

}  // namespace

std::string case_anchor(std::size_t number) {
  return fmt::format("case-{}", number);
}

std::string cases_html(const std::vector<CaseGroup>& groups,
                       const Page& page,
                       const Machines& machines) {
  std::string text;
  std::size_t number = 0;
  for (const CaseGroup& group : groups) {
    const std::vector<std::string> labels = unique_labels(group.cases);
    for (std::size_t i = 0; i < group.cases.size(); ++i) {
      text += case_html(
          group.cases[i], labels[i], case_anchor(++number), page, machines);
    }
  }
  return text;
}

}  // namespace paceline::report
