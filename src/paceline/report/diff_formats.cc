// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_formats.h"

#include <array>
#include <vector>

#include <fmt/format.h>

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

std::string title_of(const DiffGroup& group) {
  return printable(
      fmt::format("{}, batch {} per rank", group.model, group.batch_size));
}

std::string markdown_table(const DiffGroup& group, std::string_view mark) {
  const Scale scale = time_scale(group, mark);
  std::string text = fmt::format(
      "### {}\n\n"
      "| case | ranks | base, {} | test, {} | change, % | p | verdict |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
      markdown_text(title_of(group)),
      scale.unit,
      scale.unit);
  for (const DiffRow* row : group.rows) {
    const bool proven =
        row->verdict == Verdict::kSlower || row->verdict == Verdict::kFaster;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                        markdown_text(row->label),
                        row->configuration().ranks,
                        markdown_text(scale.show(row->base_s)),
                        markdown_text(scale.show(row->test_s)),
                        markdown_text(change_in_words(*row, mark)),
                        markdown_text(p_in_words(row->corrected_p)),
                        proven ? fmt::format("**{}**", name_of(row->verdict))
                               : std::string(name_of(row->verdict)));
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
  const std::string_view mark = bases_of(diff).mark();
  for (const DiffGroup& group : group_rows(diff)) {
    const Scale scale = time_scale(group, mark);
    const std::string step = fmt::format("step time, {}", scale.unit);
    Grid grid({{"", "case"},
               {"", "ranks"},
               {step, "base"},
               {step, "test"},
               {"change", "%"},
               {diff.rows.size() > 1 ? "corrected" : "", "p"},
               {"", "verdict"}});
    for (const DiffRow* row : group.rows) {
      grid.add_row({printable(row->label),
                    fmt::to_string(row->configuration().ranks),
                    scale.show(row->base_s),
                    scale.show(row->test_s),
                    change_in_words(*row, mark),
                    p_in_words(row->corrected_p),
                    std::string(name_of(row->verdict))});
    }
    text += title_of(group) + "\n\n" + grid.text() + "\n";
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
  for (const DiffGroup& group : group_rows(diff)) {
    text += markdown_table(group, bases_of(diff).mark());
  }
  for (const Note& note : notes_of(diff)) {
    text += fmt::format("- **{}**: {}\n",
                        markdown_text(note.head),
                        markdown_text(note.sentence));
  }
  return text;
}

}  // namespace paceline::report
