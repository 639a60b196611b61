// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/records/json.h"
#include "paceline/records/samples.h"
#include "paceline/report/console.h"
#include "paceline/report/layouts.h"
#include "paceline/report/page/embedded.h"
#include "paceline/report/summary_json.h"
#include "paceline/report/summary_table.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// Returns `skeleton` with each {{name}} replaced by its text.  The texts themselves are not
// searched for names.
std::string filled(std::string_view skeleton,
                   const std::map<std::string_view, std::string>& texts) {
  std::string out;
  while (true) {
    const std::size_t begin = skeleton.find("{{");
    out += skeleton.substr(0, begin);
    if (begin == std::string_view::npos) {
      return out;
    }
    const std::size_t end = skeleton.find("}}", begin);
    PACELINE_CHECK(end != std::string_view::npos);
    out += texts.at(skeleton.substr(begin + 2, end - begin - 2));
    skeleton.remove_prefix(end + 2);
  }
}

// Returns the part of a record that the scripts draw: everything but the ranks' samples, and a
// single rank that has the slowest rank's time of each step.
RunRecord drawn_of(const RunRecord& record) {
  records::RankSamples slowest;
  for (const std::vector<std::int64_t>& steps : records::step_ns(record)) {
    slowest.step_ns.resize(std::max(slowest.step_ns.size(), steps.size()));
    std::ranges::transform(steps, slowest.step_ns, slowest.step_ns.begin(),
                           [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  RunRecord drawn = record;
  drawn.ranks = {std::move(slowest)};
  return drawn;
}

// Returns one line per record; empty if the lines are longer than `most` bytes.
std::string record_lines(std::span<const RunRecord> records, std::size_t most) {
  std::string lines;
  for (const RunRecord& record : records) {
    lines += script_json(records::to_line(record)) + "\n";
    if (lines.size() > most) {
      return "";
    }
  }
  return lines;
}

// Returns the names of the experiments, at most three.
std::string default_title(std::span<const RunRecord> records) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  for (const RunRecord& record : records) {
    add_once(names, record.experiment.empty() ? "records" : record.experiment);
  }
  const std::size_t left = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - left);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     left > 0 ? fmt::format(" and {} more", left) : "");
}

// Converts a table of the comparison of frameworks, for readers without scripts.
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

}  // namespace

Json page_data(const Page& page) {
  SummaryReport report = summary_report(page.records, Detail::kFull);
  Json data{{"title", printable(page.title.empty() ? default_title(page.records) : page.title)}};
  data.update(summary_json(report, page.records));
  data["frameworks"] = nullptr;
  if (std::ranges::any_of(page.records, [](const RunRecord& one) {
        return !one.configuration.framework.empty();
      })) {
    Json input = data;
    input.update(runs_json(page.records));
    data["frameworks"] = Json::parse(python_report("dlperf", {"--data"}, input));
    for (const Json& one : data["frameworks"]["results"]) {
      report.document.tables.push_back(table_from(one["throughput"]));
      report.document.tables.push_back(table_from(one["speed_up"]));
    }
  }
  data["text"] = console_text(report.document);
  data["origins"] = Json::array();
  for (const Origin& origin : page.origins) {
    data["origins"].push_back(fmt::format("{}, record {}", printable(origin.file), origin.number));
  }
  return data;
}

PageAssets page_assets() {
  return {
      .skeleton = embedded::kSkeleton,
      .style = embedded::kStyle,
      .scripts = {embedded::kD3, embedded::kPlot, embedded::kCharts, embedded::kRows,
                  embedded::kElements, embedded::kSections, embedded::kScaling,
                  embedded::kFrameworks, embedded::kTraining, embedded::kDiff, embedded::kScript},
      .licences = {embedded::kD3Licence, embedded::kPlotLicence}};
}

std::string script_json(const std::string& json) {
  std::string out;
  for (const char c : json) {
    // These characters occur only inside strings of JSON, where escapes are allowed.
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string page_text(const PageParts& parts, const PageAssets& assets) {
  std::string licences;
  for (const std::string_view licence : assets.licences) {
    licences += fmt::format("<pre>{}</pre>\n", html_escaped(licence));
  }
  std::string scripts;
  for (const std::string_view script : assets.scripts) {
    scripts += fmt::format("<script>\n{}</script>\n", script);
  }
  return filled(assets.skeleton, {{"title", html_escaped(parts.title)},
                                  {"style", std::string(assets.style)},
                                  {"tables", html_escaped(parts.text)},
                                  {"licences", licences},
                                  {"data", script_json(records::to_line(parts.data))},
                                  {"records", parts.records},
                                  {"scripts", scripts}});
}

std::string render_page(const Page& page, const PageAssets& assets) {
  Json data = page_data(page);
  PageParts parts{.title = data["title"],
                  .text = data["text"],
                  .data = {},
                  .records = record_lines(page.records, page.most_record_bytes)};
  data.erase("text");
  const bool whole = !parts.records.empty() || page.records.empty();
  data["whole_records"] = whole;
  for (std::size_t i = 0; !whole && i < page.records.size(); ++i) {
    parts.records += script_json(records::to_line(drawn_of(page.records[i]))) + "\n";
  }
  parts.data = std::move(data);
  return page_text(parts, assets);
}

}  // namespace paceline::report
