// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/fields.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// The output of a command: tables and notes for people, the same content as values, and a command
/// to run next.
struct CommandOutput {
  std::vector<Note> header{};   // notes above the heading
  std::string heading{};        // one line above the tables
  std::vector<Table> tables{};  // each has at least one row
  std::vector<Note> notes{};    // notes below the tables
  std::string command{};        // a command to run next, one line for a shell; empty: none
  std::vector<std::string> command_notes{};  // what the user should know before running it
  Table csv{};
  Json json{};
};

/// Returns the names of the formats: `table` for a terminal, `json` with the command if there is
/// one, `csv` without the command, and `markdown`.
std::vector<std::string> output_format_names();

/// Renders the output in the format called `format`; throws UsageError for an unknown one.
std::string render_output(std::string_view format, const CommandOutput& output);

}  // namespace paceline::report
