// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/report/framework_report.h"
#include "paceline/report/markdown.h"

namespace paceline::report {
namespace {

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
      const double value = speed_up ? drawn[i]->speed_up(devices).value_or(0)
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

}  // namespace

std::string framework_charts(const FrameworkResults& results) {
  const FrameworkTable& table = results.data;
  std::vector<const FrameworkColumn*> drawn;
  std::vector<std::string> left_out;
  for (const FrameworkColumn& column : table.columns) {
    const bool excluded = results.excludes(column);
    const bool whole =
        std::ranges::all_of(table.rows, [&](const Devices& devices) {
          const auto cell = column.cells.find(devices);
          return cell != column.cells.end() && cell->second.rate;
        });
    if (excluded || !whole || drawn.size() == kSeriesStyles.size()) {
      left_out.push_back(fmt::format("{} ({})",
                                     column.title,
                                     excluded ? "not comparable"
                                     : whole  ? "too many lines"
                                              : "figures are missing"));
    } else {
      drawn.push_back(&column);
    }
  }
  std::string text;
  if (table.rows.size() > 1 && !drawn.empty()) {
    text = chart(table, drawn, false) + chart(table, drawn, true);
  }
  if (!left_out.empty()) {
    text += fmt::format(
        "Left out of the charts: {}.\n\n",
        markdown_escaped(fmt::format("{}", fmt::join(left_out, "; "))));
  }
  return text;
}

}  // namespace paceline::report
