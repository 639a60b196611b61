// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_formats.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/report/diff_words.h"
#include "paceline/report/layout.h"
#include "paceline/report/markdown.h"

namespace paceline::report {
namespace {

// To add a format, write its renderer and add its row; --format and its help
// read this table.
constexpr auto kFormats = std::to_array<DiffFormat>({
    {.name = "table",
     .summary = "both medians, the change with its interval, p, verdict",
     .render = render_diff_table},
    {.name = "ddp",
     .summary = "what PyTorch's diff.py prints, to the character",
     .render = render_diff_ddp},
    {.name = "json",
     .summary = "one object: every figure, difference and warning",
     .render = render_diff_json},
    {.name = "csv",
     .summary = "one line per case, for spreadsheets",
     .render = render_diff_csv},
    {.name = "markdown",
     .summary = "the table for a pull request",
     .render = render_diff_markdown},
});

/// The tables of one comparison: their columns, and the cells of a row.  Of a
/// command nobody knows its ranks.
class Tables {
 public:
  struct Column {
    Grid::Column words;
    std::string markdown;            // its header there
    std::string_view edge = "---:";  // set right
  };

  explicit Tables(const Diff& diff)
      : diff_(diff), mark_(bases_of(diff).mark()) {}

  std::string title_of(const DiffGroup& group) const {
    return diff_.wall_times
               ? "whole commands"
               : printable(fmt::format(
                     "{}, batch {} per rank", group.model, group.batch_size));
  }

  Scale scale_of(const DiffGroup& group) const {
    return time_scale(group, mark_);
  }

  std::vector<Column> columns(const Scale& scale) const {
    const std::string time = fmt::format(
        "{} time, {}", diff_.wall_times ? "wall" : "step", scale.unit);
    const std::string p = diff_.rows.size() > 1 ? "corrected" : "";
    std::vector<Column> columns{{{"", "case"}, "case", "---"}};
    if (!diff_.wall_times) {
      columns.push_back({{"", "ranks"}, "ranks"});
    }
    columns.insert(columns.end(),
                   {{{time, "base"}, fmt::format("base, {}", scale.unit)},
                    {{time, "test"}, fmt::format("test, {}", scale.unit)},
                    {{"change", "%"}, "change, %"},
                    {{p, "p"}, "p"},
                    {{"", "verdict"}, "verdict", "---"}});
    return columns;
  }

  std::vector<std::string> cells(const DiffRow& row, const Scale& scale) const {
    std::vector<std::string> cells{printable(row.label)};
    if (!diff_.wall_times) {
      cells.push_back(fmt::to_string(row.configuration().ranks));
    }
    cells.insert(cells.end(),
                 {scale.show(row.base_s),
                  scale.show(row.test_s),
                  change_in_words(row, mark_),
                  p_in_words(row.corrected_p),
                  std::string(name_of(row.verdict))});
    return cells;
  }

 private:
  const Diff& diff_;
  std::string_view mark_;
};

std::string markdown_line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string markdown_table(const Tables& tables, const DiffGroup& group) {
  const Scale scale = tables.scale_of(group);
  std::vector<std::string> headers;
  std::vector<std::string> edges;
  for (const Tables::Column& column : tables.columns(scale)) {
    headers.push_back(column.markdown);
    edges.emplace_back(column.edge);
  }
  std::string text =
      fmt::format("### {}\n\n", markdown_text(tables.title_of(group))) +
      markdown_line(headers) + markdown_line(edges);
  for (const DiffRow* row : group.rows) {
    std::vector<std::string> cells = tables.cells(*row, scale);
    std::transform(
        cells.begin(), cells.end(), cells.begin(), [](const std::string& cell) {
          return markdown_text(cell);
        });
    if (row->verdict == Verdict::kSlower || row->verdict == Verdict::kFaster) {
      cells.back() = fmt::format("**{}**", cells.back());
    }
    text += markdown_line(cells);
  }
  return text + "\n";
}

}  // namespace

std::span<const DiffFormat> diff_formats() {
  return kFormats;
}

const DiffFormat& find_diff_format(std::string_view name) {
  std::vector<std::string> known;
  for (const DiffFormat& format : kFormats) {
    if (format.name == name) {
      return format;
    }
    known.emplace_back(format.name);
  }
  throw UsageError("--format: " + unknown_name("format", name, known));
}

std::string render_diff_table(const Diff& diff) {
  std::string text = hanging("base  ", printable(diff.base_name)) +
                     hanging("test  ", printable(diff.test_name)) + "\n";
  const Tables tables(diff);
  for (const DiffGroup& group : group_rows(diff)) {
    const Scale scale = tables.scale_of(group);
    std::vector<Grid::Column> columns;
    for (const Tables::Column& column : tables.columns(scale)) {
      columns.push_back(column.words);
    }
    Grid grid(std::move(columns));
    for (const DiffRow* row : group.rows) {
      grid.add_row(tables.cells(*row, scale));
    }
    text += tables.title_of(group) + "\n\n" + grid.text() + "\n";
  }
  for (const Note& note : notes_of(diff)) {
    text += hanging(fmt::format("{:<12}", note.head), note.sentence);
  }
  return text;
}

std::string render_diff_markdown(const Diff& diff) {
  std::string text = fmt::format("base: {}  \ntest: {}\n\n",
                                 markdown_text(diff.base_name),
                                 markdown_text(diff.test_name));
  const Tables tables(diff);
  for (const DiffGroup& group : group_rows(diff)) {
    text += markdown_table(tables, group);
  }
  for (const Note& note : notes_of(diff)) {
    text += fmt::format("- **{}**: {}\n",
                        markdown_text(note.head),
                        markdown_text(note.sentence));
  }
  return text;
}

}  // namespace paceline::report
