// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline report RECORDS... [-o FILE] [--format NAME] [--title TEXT]`:
/// shows records of one or several files, whatever made them.
class ReportCommand {
 public:
  /// Adds the flags to the subcommand `app`; must outlive the parsing.
  explicit ReportCommand(CLI::App& app);
  ReportCommand(const ReportCommand&) = delete;
  ReportCommand& operator=(const ReportCommand&) = delete;

  /// Reads every file, then writes; a line that is no record is a UsageError with its file and
  /// number.  Returns the exit code.
  int run() const;

 private:
  std::vector<std::string> files_;
  std::string output_;  // empty: stdout
  std::string format_;  // empty: by the name of the output
  std::string title_;
};

/// The format of a file of this name: page, markdown, csv, json, else table.
std::string format_of_file(const std::string& path);

}  // namespace paceline::cli
