// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/records/json.h"
#include "paceline/report/page_figures.h"
#include "paceline/report/page_html.h"
#include "paceline/report/page_sections.h"

namespace paceline::report {
namespace {

using nlohmann::ordered_json;
using records::RunRecord;

// Nothing but what the page itself holds may run or be shown, so that it
// cannot ask the network for anything.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The distinct texts of the records, in order, joined; at most `most`.
template <class Text>
std::string distinct(std::span<const RunRecord> records,
                     Text text,
                     std::size_t most = 3) {
  std::vector<std::string> all;
  for (const RunRecord& record : records) {
    std::string one = text(record);
    if (!one.empty() && std::find(all.begin(), all.end(), one) == all.end()) {
      all.push_back(std::move(one));
    }
  }
  const std::size_t left = all.size() > most ? all.size() - most : 0;
  all.resize(all.size() - left);
  return fmt::format("{}{}",
                     fmt::join(all, ", "),
                     left > 0 ? fmt::format(" and {} more", left) : "");
}

std::string machine_words(const RunRecord& record) {
  const auto& hosts = record.environment.hosts;
  if (hosts.empty()) {
    return "";
  }
  const auto fact = [&hosts](const char* name) {
    const auto found = hosts.front().facts.find(name);
    return found == hosts.front().facts.end() ? std::string() : found->second;
  };
  std::string words = fact("cpu_model");
  if (const std::string cores = fact("cores"); !cores.empty()) {
    words += fmt::format(", {} cores", cores);
  }
  if (const std::string gpus = fact("gpus"); !gpus.empty()) {
    words += ", " + gpus;
  }
  return hosts.size() == 1 ? words
                           : fmt::format("{} hosts: {}", hosts.size(), words);
}

std::string days_of(std::span<const RunRecord> records) {
  std::set<std::string> days;
  for (const RunRecord& record : records) {
    if (!record.started_at.empty()) {
      days.insert(record.started_at.substr(0, 10));
    }
  }
  if (days.empty()) {
    return "";
  }
  return days.size() == 1 ? *days.begin()
                          : *days.begin() + " to " + *days.rbegin();
}

std::string fact(std::string_view name, const std::string& value) {
  return value.empty() ? ""
                       : fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n",
                                     name,
                                     html_text(value));
}

std::string header_html(const Page& page, std::size_t cases) {
  const auto& records = page.records;
  const auto source = [](const RunRecord& r) {
    return std::string(records::name_of(r.source));
  };
  const auto torch = [](const RunRecord& r) {
    return r.environment.torch_version;
  };
  return fmt::format(
             "<header>\n<p class=\"brand\">Paceline report</p>\n"
             "<button id=\"theme\" type=\"button\" hidden></button>\n"
             "<h1>{}</h1>\n<dl>\n",
             html_text(page.title)) +
         fact("cases",
              records.empty()
                  ? ""
                  : fmt::format("{} in {} runs", cases, records.size())) +
         fact("figures", distinct(records, source, 5)) +
         fact("date", days_of(records)) +
         fact("machine", distinct(records, machine_words, 2)) +
         fact("PyTorch", distinct(records, torch)) + "</dl>\n</header>\n";
}

std::string reading_html(const Page& page) {
  if (page.meanings.empty() && page.notes.empty()) {
    return "";
  }
  std::string text =
      "<section>\n<h2>How to read the tables</h2>\n<dl class=\"reading\">\n";
  for (const Meaning& meaning : page.meanings) {
    text += fact(html_text(meaning.term), meaning.text);
  }
  for (std::size_t i = 0; i < page.notes.size(); ++i) {
    text += fact(fmt::format("note {}", i + 1), page.notes[i]);
  }
  return text + "</dl>\n</section>\n";
}

std::string behind_html(const Page& page,
                        const std::vector<CaseGroup>& groups,
                        const Machines& machines) {
  if (page.records.empty()) {
    return "";
  }
  return "<section>\n<h2>Behind the figures</h2>\n<p class=\"note\">Every case "
         "with the command that measures it again, its configuration and its "
         "runs. The records are in this file: <button id=\"save\" "
         "type=\"button\" hidden>save them</button></p>\n" +
         cases_html(groups, page, machines) + machines.html() + "</section>\n";
}

std::string footer_html(const PageAssets& assets) {
  std::string text =
      "<footer>\n<p>Made by <code>paceline report</code>; charts by Observable "
      "Plot and D3. This page asks the network for nothing.</p>\n";
  if (!assets.licences.empty()) {
    text += "<details><summary>Licences</summary>\n";
    for (const std::string_view licence : assets.licences) {
      text += fmt::format("<pre>{}</pre>\n", html_lines(licence));
    }
    text += "</details>\n";
  }
  return text + "</footer>\n";
}

std::string data_html(const Page& page, const ordered_json& charts) {
  std::string text =
      R"(<script type="application/json" id="charts">)" +
      script_json(
          charts.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) +
      "</script>\n<script type=\"application/x-ndjson\" id=\"records\">";
  for (const RunRecord& record : page.records) {
    text += script_json(records::to_line(record)) + "\n";
  }
  return text + "</script>\n";
}

}  // namespace

Page page_of(std::span<const RunRecord> records) {
  Page page;
  page.title = distinct(records, [](const RunRecord& r) {
    return r.experiment.empty() ? "records" : r.experiment;
  });
  page.records = records;
  const std::vector<Table> tables = summarize(records);
  const std::vector<CaseGroup> groups = group_tables(records);
  Sheets sheets = make_sheets(tables, Detail::kFull);
  std::size_t number = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (Sheet::Line& line : sheets.tables[i].lines) {
      line.link = case_anchor(++number);
    }
    for (Section& section :
         table_sections({tables[i], groups[i], sheets.tables[i]})) {
      page.sections.push_back(std::move(section));
    }
    for (Section& section : link_sections(tables[i])) {
      page.sections.push_back(std::move(section));
    }
  }
  page.meanings = std::move(sheets.meanings);
  page.notes = std::move(sheets.notes);
  return page;
}

std::string render_page(const Page& page, const PageAssets& assets) {
  const std::vector<CaseGroup> groups = group_tables(page.records);
  std::size_t cases = 0;
  for (const CaseGroup& group : groups) {
    cases += group.cases.size();
  }
  const Machines machines(page.records);
  ordered_json charts = ordered_json::array();
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<title>{} - Paceline</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      kPolicy,
      html_text(page.title),
      assets.style);
  text += header_html(page, cases) + "<main>\n";
  text += sections_html(page.sections, charts);  // fills `charts`
  text += reading_html(page) + behind_html(page, groups, machines);
  text += "</main>\n" + footer_html(assets) + data_html(page, charts);
  for (const std::string_view script : assets.scripts) {
    text += fmt::format("<script>\n{}</script>\n", script);
  }
  return text + "</body>\n</html>\n";
}

}  // namespace paceline::report
