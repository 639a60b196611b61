// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/command_output.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/report/console.h"
#include "paceline/report/csv.h"
#include "paceline/report/markdown.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

constexpr std::size_t kNoteWidth = 88;

std::string output_as_table(const CommandOutput& output) {
  std::string text = (output.heading.empty() ? "" : output.heading + "\n") +
                     console_text(Document{output.header, output.tables, output.notes});
  if (!output.command.empty()) {
    text += fmt::format("\n  {}\n", output.command);
    for (const std::string& note : output.command_notes) {
      text += with_hanging_indent("  ", note, kNoteWidth);
    }
  }
  return text;
}

std::string output_as_markdown(const CommandOutput& output) {
  std::string text = markdown_paragraph(output.heading) +
                     markdown_text(Document{output.header, output.tables, output.notes});
  if (!output.command.empty()) {
    text +=
        fmt::format("```sh\n{}\n```\n\n{}", output.command,
                    markdown_paragraph(fmt::format("{}", fmt::join(output.command_notes, "\n"))));
  }
  return text;
}

std::string output_as_csv(const CommandOutput& output) { return csv_text(output.csv); }

std::string output_as_json(const CommandOutput& output) {
  Json json = output.json;
  if (!output.command.empty()) {
    json["command"] = output.command;
    json["command_notes"] = output.command_notes;
  }
  return json_text(json, 2) + "\n";
}

struct OutputFormat {
  std::string_view name;
  std::string (*render)(const CommandOutput& output);
};

constexpr auto kOutputFormats = std::to_array<OutputFormat>({{"table", output_as_table},
                                                             {"json", output_as_json},
                                                             {"csv", output_as_csv},
                                                             {"markdown", output_as_markdown}});

}  // namespace

std::vector<std::string> output_format_names() {
  std::vector<std::string> names;
  for (const OutputFormat& format : kOutputFormats) {
    names.emplace_back(format.name);
  }
  return names;
}

std::string render_output(std::string_view format, const CommandOutput& output) {
  const auto* found = std::ranges::find(kOutputFormats, format, &OutputFormat::name);
  if (found == kOutputFormats.end()) {
    throw UsageError("--format: " + unknown_name_message("format", format, output_format_names()));
  }
  return found->render(output);
}

}  // namespace paceline::report
