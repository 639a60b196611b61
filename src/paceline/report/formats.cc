// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/formats.h"

#include <algorithm>
#include <array>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/report/console.h"
#include "paceline/report/layouts.h"
#include "paceline/report/markdown.h"
#include "paceline/report/summary_json.h"
#include "paceline/report/summary_table.h"

namespace paceline::report {
namespace {

using Records = std::span<const records::RunRecord>;

// Renders tables for a terminal: one per model and batch size, titled by what its cases share, and
// below them the meaning of the columns and every warning.
std::string render_table(Records records) {
  return console_text(summary_report(records, Detail::kShort).document);
}

// Renders the same tables with every interval as GitHub's Markdown.
std::string render_markdown(Records records) {
  return markdown_text(summary_report(records, Detail::kFull).document);
}

// To add a format, write its renderer and add its row; --format, its help and
// `paceline list` read this table.
constexpr auto kRunFormats = std::to_array<Format>({
    {.name = "table",
     .summary = "step times, rates, scaling efficiency, exposed communication",
     .render = render_table},
    {.name = "ddp",
     .summary = "the rows of PyTorch's DDP benchmark, to the character",
     .render = [](Records records) { return render_layout("ddp", records); },
     .has_append_only_rows = true,
     .is_rendered_by_python = true},
    {.name = "bluefog",
     .summary = "the lines of BlueFog's benchmark, to the character",
     .render = [](Records records) { return render_layout("bluefog", records); },
     .has_append_only_rows = true,
     .is_rendered_by_python = true},
    {.name = "ddl",
     .summary = "the lines of Horovod's synthetic benchmark and ddl-benchmarks",
     .render = [](Records records) { return render_layout("ddl", records); },
     .has_append_only_rows = true,
     .is_rendered_by_python = true},
    {.name = "trainers",
     .summary = "a row a trainer: epochs of ten steps, examples per second, phases, lookups",
     .render = [](Records records) { return render_layout("ddp_rpc", records, "trainers"); },
     .is_rendered_by_python = true},
    {.name = "ddp-rpc",
     .summary = "the rows of PyTorch's DDP and RPC benchmark, to the character",
     .render = [](Records records) { return render_layout("ddp_rpc", records); },
     .is_rendered_by_python = true},
    {.name = "json",
     .summary = "one object: every case with figures and configuration",
     .render = render_json},
    {.name = "csv", .summary = "one line per case, for spreadsheets", .render = render_csv},
    {.name = "dlperf",
     .summary = "frameworks side by side as DLPerf's report, in Markdown",
     .render =
         [](Records records) {
           return python_report("dlperf", {},
                                report_json(summary_report(records, Detail::kFull), records));
         },
     .is_rendered_by_python = true},
    {.name = "markdown",
     .summary = "the tables with every interval, for issues and pages",
     .render = render_markdown},
});

}  // namespace

std::span<const Format> formats() { return kRunFormats; }

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kRunFormats) {
    names.emplace_back(format.name);
  }
  return names;
}

const Format& find_format(std::string_view name) {
  const auto* found = std::ranges::find(kRunFormats, name, &Format::name);
  if (found == kRunFormats.end()) {
    throw UsageError("--format: " + unknown_name_message("format", name, format_names()));
  }
  return *found;
}

}  // namespace paceline::report
