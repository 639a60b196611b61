// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline report RECORDS... [-o FILE] [--format NAME] [--title TEXT]`: shows the records of one
/// or several files, whichever program wrote them.
class ReportCommand {
 public:
  /// Adds the flags to the subcommand `app`. The object must outlive the parsing.
  explicit ReportCommand(CLI::App& app);
  ReportCommand(const ReportCommand&) = delete;
  ReportCommand& operator=(const ReportCommand&) = delete;

  /// Reads every file, then writes the report. Throws UsageError, with file and line number, for a
  /// line that is no record. Returns the exit code.
  int run() const;

 private:
  std::vector<std::string> files_;
  std::string output_;  // empty: stdout
  std::string format_;  // empty: chosen by the output's file name
  std::string title_;
};

/// The report format for a file name: page, markdown, csv, json or table, by its extension.
std::string format_of_file(const std::string& path);

}  // namespace paceline::cli
