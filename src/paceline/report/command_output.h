// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/fields.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// The output of a command that shows no records: tables for people, the same content as values,
/// and a command to run next.
struct CommandOutput {
  std::string heading{};                     // one line above the tables
  std::vector<Table> tables{};               // each has rows
  std::string command{};                     // one line for a shell; empty: none
  std::vector<std::string> command_notes{};  // what the user should know before running it
  Table csv{};
  Json json{};  // one JSON object
};

/// One output format of a CommandOutput.
struct OutputFormat {
  std::string_view name;
  std::string (*render)(const CommandOutput& output);
};

/// The formats are `table` for a terminal, `json` with one object that includes the command, `csv`
/// without the command, and `markdown` with the tables and the command.
std::span<const OutputFormat> output_formats();

}  // namespace paceline::report
