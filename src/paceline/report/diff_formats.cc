// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_formats.h"

#include <array>

#include "paceline/report/console.h"
#include "paceline/report/diff_notes.h"
#include "paceline/report/markdown.h"
#include "paceline/report/page.h"
#include "paceline/report/table_json.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

// To add a format, write its renderer and add its row; --format and its help read this table.
constexpr auto kDiffFormats = std::to_array<DiffFormat>({
    {.name = "table",
     .summary = "both medians, the change with its interval, p, verdict",
     .render = render_diff_table},
    {.name = "ddp",
     .summary = "what PyTorch's diff.py prints, to the character",
     .render = render_diff_ddp},
    {.name = "json",
     .summary = "one object: every figure, difference and warning",
     .render = render_diff_json},
    {.name = "csv", .summary = "one line per case, for spreadsheets", .render = render_diff_csv},
    {.name = "markdown", .summary = "the table for a pull request", .render = render_diff_markdown},
    {.name = "html",
     .summary = "a page: the changes as a chart, the table",
     .render = render_diff_page},
});

Table table_of(const Diff& diff, const DiffGroup& group) {
  Table table = diff_columns(diff, group).table(group.rows);
  table.title = diff.wall_times   ? "whole commands"
                : diff.operations ? "operations by range of sizes"
                                  : printable(model_and_batch(group.model, group.batch_size));
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    table.rows[i].emphasized = is_change(group.rows[i]->verdict);
  }
  return table;
}

}  // namespace

std::span<const DiffFormat> diff_formats() { return kDiffFormats; }

Document diff_document(const Diff& diff) {
  Document document{
      .header = {{"base", printable(diff.base_name)}, {"test", printable(diff.test_name)}},
      .notes = notes_of(diff)};
  for (const DiffGroup& group : group_rows(diff)) {
    document.tables.push_back(table_of(diff, group));
  }
  return document;
}

std::string render_diff_table(const Diff& diff) { return console_text(diff_document(diff)); }

std::string render_diff_markdown(const Diff& diff) { return markdown_text(diff_document(diff)); }

std::string render_diff_page(const Diff& diff, const PageAssets& assets) {
  const Document document = diff_document(diff);
  return page_text(
      {.title = decision_text(diff),
       .text = console_text(document),
       .data = {{"facts", notes_json(document.header)}, {"diff", diff_json(diff, document)}}},
      assets);
}

std::string render_diff_page(const Diff& diff) { return render_diff_page(diff, page_assets()); }

}  // namespace paceline::report
