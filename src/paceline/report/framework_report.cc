// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/framework_report.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

using records::fact_of;
using records::RunRecord;

// A fact's name as words.
std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string or_missing(const std::string& text) {
  return text.empty() ? std::string(kMissing) : printable(text);
}

std::string period_of(std::span<const RunRecord> records) {
  std::set<std::string> days;
  for (const RunRecord& record : records) {
    if (!record.started_at.empty()) {
      days.insert(record.started_at.substr(0, 10));
    }
  }
  if (days.empty()) {
    return "not known (the figures were imported)";
  }
  return days.size() == 1
             ? *days.begin()
             : fmt::format("{} to {}", *days.begin(), *days.rbegin());
}

std::string features(const FrameworkColumn& column) {
  std::vector<std::string> all;
  for (const char* name : {"compiler",
                           "layout",
                           "loss_scaling",
                           "clipping",
                           "dali",
                           "optimizer"}) {
    const std::string value = fact_of(column.facts, name);
    if (!value.empty()) {
      all.push_back(fmt::format("{}: {}", words_of(name), value));
    }
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

Table frameworks_table(const std::vector<FrameworkResults>& results) {
  Table table{.title = "Frameworks"};
  std::vector<std::pair<std::string, const char*>> facts{
      {"version", "framework_version"}};
  for (const char* name : {"docker", "model_source"}) {  // if any says it
    if (std::ranges::any_of(results, [&](const FrameworkResults& one) {
          return std::ranges::any_of(
              one.data.columns, [&](const FrameworkColumn& column) {
                return !fact_of(column.facts, name).empty();
              });
        })) {
      facts.emplace_back(words_of(name), name);
    }
  }
  facts.emplace_back("exchange", "exchange");
  table.columns.push_back({.name = "column", .align = Align::kLeft});
  for (const auto& [words, name] : facts) {
    table.columns.push_back({.name = words, .align = Align::kLeft});
  }
  for (const char* name : {"features", "data"}) {
    table.columns.push_back({.name = name, .align = Align::kLeft});
  }
  std::set<std::string> shown;
  for (const FrameworkResults& one : results) {
    for (const FrameworkColumn& column : one.data.columns) {
      const std::string name = one.data.model + ": " + column.title;
      if (shown.insert(name).second) {
        TableRow row{.cells = {printable(name)}};
        for (const auto& [words, key] : facts) {
          row.cells.push_back(or_missing(fact_of(column.facts, key)));
        }
        row.cells.push_back(or_missing(features(column)));
        row.cells.push_back(or_missing(fact_of(column.facts, "data")));
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

std::vector<Note> options_of(std::span<const RunRecord> records,
                             const std::vector<FrameworkResults>& results) {
  std::set<Devices> devices;
  std::set<std::string> dtypes;
  for (const FrameworkResults& one : results) {
    devices.insert(one.data.rows.begin(), one.data.rows.end());
    dtypes.insert(one.data.dtype);
  }
  std::set<std::string> windows;
  for (const RunRecord& record : records) {
    if (record.source != records::Source::kImported && !record.not_run()) {
      windows.insert(fmt::format("{} steps skipped, {} timed",
                                 record.configuration.warmup,
                                 record.configuration.steps));
    }
  }
  std::vector<std::string> places;
  for (const Devices& one : devices) {
    places.push_back(fmt::format(
        "{}, {}", counted(one.nodes, "node"), counted(one.devices, "device")));
  }
  std::vector<Note> options{
      {"devices", fmt::format("{}", fmt::join(places, "; "))},
      {"number types", printable(fmt::format("{}", fmt::join(dtypes, ", ")))}};
  if (!windows.empty()) {
    options.push_back({"window", fmt::format("{}", fmt::join(windows, "; "))});
    options.push_back(
        {"figure",
         "samples in the window over its wall time on the slowest rank's "
         "clock; the median of the runs, with its 95 % interval where there "
         "are three or more"});
  }
  return options;
}

std::vector<Note> remarks_of(std::span<const RunRecord> records) {
  std::vector<Note> remarks;
  for (const auto& [code, words] :
       {std::pair{"busy-machine", "busy machine"},
        std::pair{"shortened-protocol", "shortened"}}) {
    std::set<std::string> texts;
    for (const RunRecord& record : records) {
      for (const records::Warning& warning : record.warnings) {
        if (warning.code == code &&
            texts.insert(warning.seen + "; " + warning.why).second) {
          remarks.push_back(
              {words, printable(warning.seen + "; " + warning.why)});
        }
      }
    }
  }
  return remarks;
}

// A table of the report's form, without rows.
Table empty_table(const FrameworkTable& data, const std::string& what) {
  Table table{.title = printable(
                  fmt::format("{}, {}: {}", data.model, data.title, what)),
              .columns = {{.name = "node num", .align = Align::kLeft},
                          {.name = "device num"}}};
  for (const FrameworkColumn& column : data.columns) {
    table.columns.push_back({.name = printable(column.title)});
  }
  return table;
}

FrameworkResults results_of(FrameworkTable data) {
  FrameworkResults out{.data = std::move(data)};
  out.throughput = empty_table(out.data, "throughput, " + out.data.unit);
  out.speed_up = empty_table(out.data, "speed-up and efficiency");
  out.findings = findings(out.data);
  for (const Devices& devices : out.data.rows) {
    const std::vector<std::string> head{fmt::to_string(devices.nodes),
                                        fmt::to_string(devices.devices)};
    TableRow rates{.cells = head};
    TableRow speed_ups{.cells = head};
    for (const FrameworkColumn& column : out.data.columns) {
      speed_ups.cells.push_back(speed_up_text(column, devices));
      const auto cell = column.cells.find(devices);
      if (cell == column.cells.end()) {
        rates.cells.emplace_back(kMissing);
        continue;
      }
      rates.cells.push_back(printable(cell_text(cell->second)));
      if (cell->second.rate && out.excludes(column, devices)) {
        rates.cells.back() += " (not comparable)";
      }
      const std::string why = printable(cell->second.why);
      if (!cell->second.rate && !why.empty()) {
        auto note = std::ranges::find(out.footnotes, why);
        if (note == out.footnotes.end()) {
          note = out.footnotes.insert(note, why);
        }
        rates.cells.back() +=
            fmt::format(" ({})", note - out.footnotes.begin() + 1);
      }
    }
    out.throughput.rows.push_back(std::move(rates));
    out.speed_up.rows.push_back(std::move(speed_ups));
  }
  return out;
}

}  // namespace

bool FrameworkResults::excludes(const FrameworkColumn& column) const {
  return std::ranges::any_of(findings, [&](const Finding& one) {
    return one.excludes && one.column == column.title;
  });
}

bool FrameworkResults::excludes(const FrameworkColumn& column,
                                const Devices& devices) const {
  return std::ranges::any_of(findings, [&](const Finding& one) {
    return one.excludes && one.column == column.title &&
           one.devices.value_or(devices) == devices;
  });
}

FrameworkReport framework_report(std::span<const RunRecord> records) {
  FrameworkReport report{.period = period_of(records)};
  for (FrameworkTable& table : framework_tables(records)) {
    report.results.push_back(results_of(std::move(table)));
  }
  report.frameworks = frameworks_table(report.results);
  report.options = options_of(records, report.results);
  report.remarks = remarks_of(records);
  return report;
}

std::string cell_text(const FrameworkCell& cell) {
  if (!cell.printed.empty()) {
    return cell.printed;
  }
  if (!cell.rate) {
    return cell.why.empty() ? std::string(kMissing)
           : cell.failed    ? "failed"
                            : "not run";
  }
  const int decimals = cell.rate->value < 1000 ? 2 : 1;
  std::string text = fmt::format("{:.{}f}", cell.rate->value, decimals);
  if (cell.rate->interval && cell.rate->runs >= stats::kFewestRuns) {
    text += fmt::format(" [{:.{}f}, {:.{}f}]",
                        cell.rate->interval->low,
                        decimals,
                        cell.rate->interval->high,
                        decimals);
  }
  return text;
}

std::string speed_up_text(const FrameworkColumn& column,
                          const Devices& devices) {
  const auto times = column.speed_up(devices);
  if (!times) {
    return std::string(kMissing);
  }
  // With as many digits as the source printed, to be compared with.
  const auto& facts = column.cells.at(devices).runs.front()->adapter;
  const auto published = facts.find("published_speed_up");
  const std::size_t point = published == facts.end()
                                ? std::string::npos
                                : published->second.find('.');
  const std::size_t decimals =
      point == std::string::npos
          ? 2
          : std::clamp<std::size_t>(published->second.size() - point - 1, 2, 6);
  return fmt::format(
      "{:.{}f}x, {:.1f} %", *times, decimals, 100 * *times / devices.devices);
}

}  // namespace paceline::report
