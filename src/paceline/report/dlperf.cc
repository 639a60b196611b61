// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/dlperf.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/framework_charts.h"
#include "paceline/report/markdown.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

using records::RunRecord;

std::string row_of(const std::vector<std::string>& cells) {
  std::vector<std::string> escaped;
  for (const std::string& cell : cells) {
    escaped.push_back(markdown_escaped(cell));
  }
  return fmt::format("| {} |\n", fmt::join(escaped, " | "));
}

std::string rule_of(std::size_t columns) {
  std::string text = "|";
  for (std::size_t i = 0; i < columns; ++i) {
    text += i == 0 ? " :-- |" : " --: |";
  }
  return text + "\n";
}

std::string fact(const FrameworkColumn& column, const char* name) {
  const auto found = column.facts.find(name);
  return found == column.facts.end() ? "" : found->second;
}

class Report {
 public:
  explicit Report(std::span<const RunRecord> records)
      : records_(records), tables_(framework_tables(records)) {}

  std::string text() {
    heading();
    environment();
    frameworks();
    options();
    std::string model;
    for (const FrameworkTable& table : tables_) {
      if (table.model != model) {
        model = table.model;
        line("\n## {}: training throughput, {}\n",
             markdown_escaped(model),
             table.unit);
      }
      results(table);
    }
    return std::move(text_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
  }

  void heading() {
    std::set<std::string> days;
    std::set<std::string> experiments;
    for (const RunRecord& record : records_) {
      if (!record.started_at.empty()) {
        days.insert(record.started_at.substr(0, 10));
      }
      experiments.insert(record.experiment);
    }
    line("# Frameworks side by side\n");
    if (days.empty()) {
      line("Period: not known (the figures were imported).\n");
    } else if (days.size() == 1) {
      line("Period: {}.\n", *days.begin());
    } else {
      line("Period: {} to {}.\n", *days.begin(), *days.rbegin());
    }
  }

  void environment() {
    line("## Test environment\n");
    std::set<std::string> shown;
    for (const RunRecord& record : records_) {
      for (const records::HostEnvironment& host : record.environment.hosts) {
        if (shown.insert(host.host).second) {
          line("- {}: {}", markdown_escaped(host.host), facts_text(host));
          if (!host.topology.empty()) {
            line("\n```\n{}\n```\n", host.topology);
          }
        }
      }
    }
    if (shown.empty()) {
      line("Not in the records.");
    }
    line("");
  }

  static std::string facts_text(const records::HostEnvironment& host) {
    std::vector<std::string> texts;
    for (const char* name : {"cpu_model",
                             "sockets",
                             "cores",
                             "usable_cores",
                             "memory_gib",
                             "gpus",
                             "driver",
                             "os",
                             "kernel",
                             "virtualized",
                             "governor",
                             "load_average"}) {
      const auto found = host.facts.find(name);
      if (found != host.facts.end()) {
        std::string words = name;
        std::ranges::replace(words, '_', ' ');
        texts.push_back(
            fmt::format("{} {}", words, markdown_escaped(found->second)));
      }
    }
    return fmt::format("{}", fmt::join(texts, "; "));
  }

  void frameworks() {
    line("## Frameworks\n");
    text_ += row_of({"column", "version", "exchange", "features", "data"}) +
             rule_of(5);
    std::set<std::string> shown;
    for (const FrameworkTable& table : tables_) {
      for (const FrameworkColumn& column : table.columns) {
        if (shown.insert(column.title + table.model).second) {
          text_ += row_of({table.model + ": " + column.title,
                           or_missing(fact(column, "framework_version")),
                           or_missing(fact(column, "exchange")),
                           or_missing(features(column)),
                           or_missing(fact(column, "data"))});
        }
      }
    }
    line("");
  }

  static std::string or_missing(const std::string& text) {
    return text.empty() ? std::string(kMissing) : text;
  }

  static std::string features(const FrameworkColumn& column) {
    std::vector<std::string> all;
    for (const char* name : {"compiler",
                             "layout",
                             "loss_scaling",
                             "clipping",
                             "dali",
                             "optimizer"}) {
      const std::string value = fact(column, name);
      if (!value.empty()) {
        std::string words = name;
        std::ranges::replace(words, '_', ' ');
        all.push_back(fmt::format("{}: {}", words, value));
      }
    }
    return fmt::format("{}", fmt::join(all, "; "));
  }

  void options() {
    std::set<Devices> devices;
    std::set<std::string> dtypes;
    std::set<std::string> settings;
    std::set<std::string> remarks;
    for (const FrameworkTable& table : tables_) {
      devices.insert(table.rows.begin(), table.rows.end());
      dtypes.insert(table.dtype);
    }
    for (const RunRecord& record : records_) {
      if (record.source != records::Source::kImported && !record.not_run()) {
        settings.insert(fmt::format("{} steps skipped, {} timed",
                                    record.configuration.warmup,
                                    record.configuration.steps));
      }
      for (const records::Warning& warning : record.warnings) {
        for (const auto& [code, words] :
             {std::pair{"shortened-protocol", "shortened"},
              std::pair{"busy-machine", "busy machine"}}) {
          if (warning.code == code) {
            remarks.insert(fmt::format(
                "**{}**: {}",
                words,
                markdown_escaped(warning.seen + "; " + warning.why)));
          }
        }
      }
    }
    line("## Options\n");
    std::vector<std::string> places;
    for (const Devices& one : devices) {
      places.push_back(fmt::format("{}, {}",
                                   counted(one.nodes, "node"),
                                   counted(one.devices, "device")));
    }
    line("- devices: {}", fmt::join(places, "; "));
    line("- number types: {}", fmt::join(dtypes, ", "));
    if (!settings.empty()) {
      line("- window: {}", fmt::join(settings, "; "));
      line(
          "- figure: samples in the window over its wall time on the slowest "
          "rank's clock; the median of the runs, with its 95 % interval where "
          "there are three or more");
    }
    for (const std::string& text : remarks) {
      line("- {}", text);
    }
  }

  void results(const FrameworkTable& table) {
    notes_.clear();
    const std::vector<Finding> found = findings(table);
    line("\n### {}\n", markdown_escaped(table.title));
    throughput(table);
    speed_ups(table);
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      line("({}) {}  ", i + 1, markdown_escaped(notes_[i]));
    }
    if (!notes_.empty()) {
      line("");
    }
    text_ += framework_charts(table, found);
    for (const Finding& one : found) {
      line("- {}{}",
           one.column.empty()
               ? ""
               : fmt::format("**{}**: ", markdown_escaped(one.column)),
           markdown_escaped(one.text));
    }
  }

  std::vector<std::string> header(const FrameworkTable& table) const {
    std::vector<std::string> cells{"node num", "device num"};
    for (const FrameworkColumn& column : table.columns) {
      cells.push_back(column.title);
    }
    return cells;
  }

  void throughput(const FrameworkTable& table) {
    text_ += row_of(header(table)) + rule_of(table.columns.size() + 2);
    for (const Devices& devices : table.rows) {
      std::vector<std::string> cells{fmt::to_string(devices.nodes),
                                     fmt::to_string(devices.devices)};
      for (const FrameworkColumn& column : table.columns) {
        const auto cell = column.cells.find(devices);
        cells.push_back(cell == column.cells.end() ? std::string(kMissing)
                                                   : with_note(cell->second));
      }
      text_ += row_of(cells);
    }
    line("");
  }

  // A cell without a figure has its reason as a footnote.
  std::string with_note(const FrameworkCell& cell) {
    std::string text = cell_text(cell);
    if (!cell.rate && !cell.why.empty()) {
      auto note = std::ranges::find(notes_, cell.why);
      if (note == notes_.end()) {
        note = notes_.insert(note, cell.why);
      }
      text += fmt::format(" ({})", note - notes_.begin() + 1);
    }
    return text;
  }

  void speed_ups(const FrameworkTable& table) {
    line("Speed-up and efficiency against one device of the same column:\n");
    text_ += row_of(header(table)) + rule_of(table.columns.size() + 2);
    for (const Devices& devices : table.rows) {
      std::vector<std::string> cells{fmt::to_string(devices.nodes),
                                     fmt::to_string(devices.devices)};
      for (const FrameworkColumn& column : table.columns) {
        cells.push_back(speed_up_text(column, devices));
      }
      text_ += row_of(cells);
    }
    line("");
  }

  std::span<const RunRecord> records_;
  std::vector<FrameworkTable> tables_;
  std::vector<std::string> notes_;
  std::string text_;
};

}  // namespace

std::string cell_text(const FrameworkCell& cell) {
  if (!cell.printed.empty()) {
    return cell.printed;
  }
  if (!cell.rate) {
    return cell.why.empty() ? std::string(kMissing) : "not run";
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
  return times
             ? fmt::format(
                   "{:.2f}x, {:.1f} %", *times, 100 * *times / devices.devices)
             : std::string(kMissing);
}

std::string render_dlperf(std::span<const RunRecord> records) {
  return Report(records).text();
}

}  // namespace paceline::report
