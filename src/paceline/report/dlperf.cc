// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/formats.h"
#include "paceline/report/framework_report.h"
#include "paceline/report/markdown.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// Squares that a legend shows, and the colors of the lines beside them.
struct SeriesStyle {
  const char* square;
  const char* color;
};
constexpr auto kSeriesStyles =
    std::to_array<SeriesStyle>({{"🟦", "#3b88c3"},
                                {"🟥", "#dd2e44"},
                                {"🟩", "#78b159"},
                                {"🟧", "#f4900c"},
                                {"🟪", "#aa8ed6"},
                                {"🟫", "#c1694f"},
                                {"🟨", "#fdcb58"}});
constexpr SeriesStyle kIdeal{"⬛", "#31373d"};

std::string chart(const FrameworkTable& table,
                  const std::vector<const FrameworkColumn*>& drawn,
                  bool speed_up) {
  std::vector<std::string> colors;
  std::vector<std::string> legend;
  std::vector<std::string> labels;
  for (const Devices& devices : table.rows) {
    labels.push_back(fmt::format("\"{}\"", devices.devices));
  }
  std::string lines;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    colors.emplace_back(kSeriesStyles.at(i).color);
    legend.push_back(fmt::format("{} {}",
                                 kSeriesStyles.at(i).square,
                                 markdown_escaped(drawn[i]->title)));
    std::vector<std::string> values;
    for (const Devices& devices : table.rows) {
      const double value = speed_up ? *drawn[i]->speed_up(devices)
                                    : drawn[i]->cells.at(devices).rate->value;
      values.push_back(fmt::format("{:.6g}", value));
    }
    lines += fmt::format("    line [{}]\n", fmt::join(values, ", "));
  }
  if (speed_up) {
    colors.emplace_back(kIdeal.color);
    legend.push_back(fmt::format("{} ideal", kIdeal.square));
    std::vector<int> ideal;
    for (const Devices& devices : table.rows) {
      ideal.push_back(devices.devices);
    }
    lines += fmt::format("    line [{}]\n", fmt::join(ideal, ", "));
  }
  std::string text = "```mermaid\n";
  text += fmt::format(
      "%%{{init: {{\"themeVariables\": {{\"xyChart\": "
      "{{\"plotColorPalette\": \"{}\"}}}}}}}}%%\n",
      fmt::join(colors, ", "));
  text += "xychart-beta\n";
  std::string title = table.model + " " + table.title;
  std::erase(title, '"');
  text += fmt::format("    title \"{} {}\"\n",
                      title,
                      speed_up ? "speed-up" : "throughput, " + table.unit);
  text += fmt::format("    x-axis \"devices\" [{}]\n", fmt::join(labels, ", "));
  text +=
      fmt::format("    y-axis \"{}\"\n", speed_up ? "speed-up" : table.unit);
  return text + lines + fmt::format("```\n\n{}\n\n", fmt::join(legend, " · "));
}

bool has_figures(const FrameworkColumn& column,
                 const std::vector<Devices>& rows) {
  return std::ranges::all_of(rows, [&](const Devices& devices) {
    const auto cell = column.cells.find(devices);
    return cell != column.cells.end() && cell->second.rate;
  });
}

// Those of the table's rows in which the column has figures.
std::vector<Devices> rows_of(const FrameworkColumn& column,
                             const FrameworkTable& table) {
  std::vector<Devices> rows;
  std::ranges::copy_if(
      table.rows, std::back_inserter(rows), [&](const Devices& devices) {
        return has_figures(column, {devices});
      });
  return rows;
}

// Both charts of the columns that have figures in all of these rows.
std::string charts_of(const FrameworkTable& table,
                      const std::vector<Devices>& rows,
                      std::vector<const FrameworkColumn*> columns) {
  FrameworkTable part{.id = {},
                      .title = table.title,
                      .model = table.model,
                      .dtype = {},
                      .unit = table.unit,
                      .rows = rows,
                      .columns = {}};
  std::erase_if(columns, [&](const FrameworkColumn* column) {
    return !has_figures(*column, rows);
  });
  std::string text = chart(part, columns, false);
  std::erase_if(columns, [&](const FrameworkColumn* column) {
    return !column->speed_up(rows.front());
  });
  return columns.empty() ? text : text + chart(part, columns, true);
}

/// Charts of throughput and of speed-up against devices, as Mermaid draws them.
/// Its lines are of equal length, so columns without a figure in some row are
/// in charts of fewer rows.  Says which columns are in none.
std::string framework_charts(const FrameworkResults& results) {
  const FrameworkTable& table = results.data;
  std::vector<const FrameworkColumn*> drawn;
  std::vector<std::vector<Devices>> axes;  // the longest first
  std::vector<std::string> left_out;
  for (const FrameworkColumn& column : table.columns) {
    const bool excluded = results.excludes(column);
    const std::vector<Devices> rows = rows_of(column, table);
    const bool alone = rows.size() < 2 && table.rows.size() > 1;
    if (excluded || rows.empty() || alone ||
        drawn.size() == kSeriesStyles.size()) {
      left_out.push_back(fmt::format("{} ({})",
                                     column.title,
                                     excluded       ? "not comparable"
                                     : rows.empty() ? "figures are missing"
                                     : alone        ? "one figure alone"
                                                    : "too many lines"));
    } else {
      drawn.push_back(&column);
      add_once(axes, rows);
    }
  }
  std::ranges::stable_sort(
      axes, std::ranges::greater{}, &std::vector<Devices>::size);
  std::string text;
  for (const std::vector<Devices>& rows : axes) {
    if (rows.size() > 1) {
      text += charts_of(table, rows, drawn);
    }
  }
  if (!left_out.empty()) {
    text += fmt::format(
        "Left out of the charts: {}.\n\n",
        markdown_escaped(fmt::format("{}", fmt::join(left_out, "; "))));
  }
  return text;
}

class Text {
 public:
  explicit Text(std::span<const RunRecord> records) : records_(records) {}

  std::string of(const FrameworkReport& report) {
    line("# Frameworks side by side\n");
    line("Period: {}.\n", report.period);
    environment();
    line("## Frameworks\n");
    line("{}", markdown_rows(report.frameworks));
    line("## Options\n");
    for (const Note& option : report.options) {
      line("- {}: {}", option.term, markdown_escaped(option.text));
    }
    for (const Note& remark : report.remarks) {
      line("- **{}**: {}", remark.term, markdown_escaped(remark.text));
    }
    std::string model;
    for (const FrameworkResults& one : report.results) {
      if (one.data.model != model) {
        model = one.data.model;
        line("\n## {}: training throughput, {}\n",
             markdown_escaped(model),
             one.data.unit);
      }
      results(one);
    }
    return std::move(text_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
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

  void results(const FrameworkResults& one) {
    line("\n### {}\n", markdown_escaped(one.data.title));
    line("{}", markdown_rows(one.throughput));
    line("Speed-up and efficiency against one device of the same column:\n");
    line("{}", markdown_rows(one.speed_up));
    for (std::size_t i = 0; i < one.footnotes.size(); ++i) {
      line("({}) {}  ", i + 1, markdown_escaped(one.footnotes[i]));
    }
    if (!one.footnotes.empty()) {
      line("");
    }
    text_ += framework_charts(one);
    for (const Finding& found : one.findings) {
      line("- {}{}",
           found.column.empty()
               ? ""
               : fmt::format("**{}**: ", markdown_escaped(found.column)),
           markdown_escaped(found.text));
    }
  }

  std::span<const RunRecord> records_;
  std::string text_;
};

}  // namespace

std::string render_dlperf(std::span<const RunRecord> records) {
  return Text(records).of(framework_report(records));
}

}  // namespace paceline::report
