// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/fields.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// What a command prints that shows no records: tables for readers, the same as values, and a
/// command to go on with.
struct CommandOutput {
  std::string heading{};                     // one line above the tables
  std::vector<Table> tables{};               // with rows
  std::string command{};                     // one line of a shell; empty: none
  std::vector<std::string> command_notes{};  // what to know before it runs
  Table csv{};
  Json json{};  // an object
};

/// One way to print it.
struct OutputFormat {
  std::string_view name;
  std::string (*render)(const CommandOutput& output);
};

/// `table`: for a terminal; `json`: one object, the command among its values;
/// `csv`: without the command; `markdown`: the tables and the command.
std::span<const OutputFormat> output_formats();

}  // namespace paceline::report
