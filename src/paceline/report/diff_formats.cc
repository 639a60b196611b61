// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_formats.h"

#include <array>

#include "paceline/report/diff_notes.h"
#include "paceline/report/table.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

constexpr auto kDiffFormats = std::to_array<DiffFormat>({
    {"table", "both medians, the change with its interval, p, verdict"},
    {"ddp", "what PyTorch's diff.py prints, to the character"},
    {"json", "one object: every figure, difference and warning"},
    {"csv", "one line per case, for spreadsheets"},
    {"markdown", "the table for a pull request"},
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

CommandOutput diff_output(const Diff& diff) {
  CommandOutput output{
      .header = {{"base", printable(diff.base_name)}, {"test", printable(diff.test_name)}},
      .notes = notes_of(diff),
      .csv = diff_csv(diff),
      .json = diff_json(diff)};
  for (const DiffGroup& group : group_rows(diff)) {
    output.tables.push_back(table_of(diff, group));
  }
  return output;
}

std::string render_diff(std::string_view format, const Diff& diff) {
  return format == "ddp" ? render_diff_ddp(diff) : render_output(format, diff_output(diff));
}

}  // namespace paceline::report
