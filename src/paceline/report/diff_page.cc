// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/report/diff_conclusion.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/diff_notes.h"
#include "paceline/report/page/embedded.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

constexpr std::string_view kRules = R"(
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child, td:last-child { text-align: left; }
tr.proven td:last-child { font-weight: 600; }
dt { float: left; clear: left; min-width: 8rem; color: var(--soft); }
dd { margin: 0 0 0.4rem 8.5rem; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
)";

std::string escaped(std::string_view text) {
  return html_escaped(printable(text));
}

std::string list_of(const std::vector<Note>& notes) {
  std::string text = "<dl>\n";
  for (const Note& note : notes) {
    text += fmt::format(
        "<dt>{}</dt><dd>{}</dd>\n", escaped(note.term), escaped(note.text));
  }
  return text + "</dl>\n";
}

std::string html_of(const Table& table) {
  std::string text =
      fmt::format("<h2>{}</h2>\n<table>\n<thead><tr>", escaped(table.title));
  for (const Column& column : table.columns) {
    const std::string heading = column.heading();
    text += fmt::format("<th>{}{}{}</th>",
                        escaped(heading),
                        heading.empty() || column.header().empty() ? "" : " ",
                        escaped(column.header()));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const TableRow& row : table.rows) {
    text += row.emphasized ? "<tr class=\"proven\">" : "<tr>";
    for (const std::string& cell : row.cells) {
      text += fmt::format("<td>{}</td>", escaped(cell));
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n";
}

/// The changes of all rows with their intervals, in percent, one line each.
class IntervalChart {
 public:
  explicit IntervalChart(const Diff& diff) : diff_(diff) {
    for (const DiffRow& row : diff.rows) {
      if (row.change) {
        rows_.push_back(&row);
        const stats::Interval shown = row.change->interval.value_or(
            stats::Interval{row.change->value, row.change->value});
        most_ = std::max({most_, std::abs(shown.low), std::abs(shown.high)});
      }
    }
    most_ = std::max(most_, diff.options.margin()) * 1.1;
  }

  std::string svg() const {
    if (rows_.empty() || !(most_ > 0) || !std::isfinite(most_)) {
      return "";
    }
    const double height = kTop + kLine * static_cast<double>(rows_.size());
    std::string text = fmt::format(
        "<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"change of "
        "each case with its interval\">\n",
        kWidth,
        height + kLine);
    if (const double margin = diff_.options.margin(); margin > 0) {
      text += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "fill=\"var(--grid)\"/>\n",
          at(-margin),
          kTop,
          at(margin) - at(-margin),
          height - kTop);
    }
    text += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2:.1f}\" "
        "stroke=\"var(--soft)\"/>\n",
        at(0),
        kTop,
        height);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      text += row(*rows_[i], kTop + kLine * (static_cast<double>(i) + 0.5));
    }
    for (const double share : {-most_ / 1.1, 0.0, most_ / 1.1}) {
      text += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:+.1f} %"
          "</text>\n",
          at(share),
          height + 16,
          100 * share);
    }
    return text + "</svg>\n";
  }

 private:
  static constexpr double kWidth = 900;
  static constexpr double kLeft = 330;  // room for names
  static constexpr double kTop = 4;
  static constexpr double kLine = 24;

  double at(double share) const {
    return kLeft + (share / most_ + 1) / 2 * (kWidth - kLeft - 10);
  }

  std::string row(const DiffRow& row, double y) const {
    const bool proven =
        row.verdict == Verdict::kSlower || row.verdict == Verdict::kFaster;
    const std::string color = proven ? "var(--c1)" : "var(--c0)";
    constexpr std::size_t kLongest = 50;
    const std::string name = row.name.size() > kLongest
                                 ? row.name.substr(0, kLongest) + "..."
                                 : row.name;
    std::string text = fmt::format(
        "<text x=\"0\" y=\"{:.1f}\">{}</text>\n", y + 4, escaped(name));
    if (row.change->interval) {
      text += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" "
          "stroke=\"{}\" stroke-width=\"3\"/>\n",
          at(row.change->interval->low),
          at(row.change->interval->high),
          y,
          y,
          color);
    }
    return text + fmt::format(
                      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" "
                      "fill=\"{}\"/>\n",
                      at(row.change->value),
                      y,
                      color);
  }

  const Diff& diff_;
  std::vector<const DiffRow*> rows_;
  double most_ = 0;  // the share at the chart's ends
};

}  // namespace

std::string render_diff_page(const Diff& diff) {
  const Document document = diff_document(diff);
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{} against {}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n"
      "<h1>{}</h1>\n",
      escaped(diff.test_name),
      escaped(diff.base_name),
      embedded::kStyle,
      kRules,
      decision_text(diff));
  text += list_of(document.header);
  text += IntervalChart(diff).svg();
  for (const Table& table : document.tables) {
    text += html_of(table);
  }
  return text + list_of(document.notes) + "</body>\n</html>\n";
}

}  // namespace paceline::report
