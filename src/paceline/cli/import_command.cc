// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/import_command.h"

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/record_files.h"
#include "paceline/records/json.h"
#include "paceline/records/readers.h"
#include "paceline/records/store.h"
#include "paceline/report/comm_table.h"
#include "paceline/report/command_output.h"
#include "paceline/report/formats.h"

namespace paceline::cli {
namespace {

std::string line_of(const records::RunRecord& record) { return records::to_line(record); }

std::string line_of(const records::CommRecord& record) {
  return records::to_line(records::to_json(record, {}));
}

// Appends to the file `to` the lines of these records that it does not have yet.
template <class Record>
void append_new_records(const std::vector<Record>& all, records::RecordKind kind,
                        std::int64_t files, const std::string& to) {
  const std::vector<std::string> lines = split_lines(read_text_if_readable(to).value_or(""));
  std::set<std::string> there(lines.begin(), lines.end());
  records::RecordWriter writer(to, kind);
  std::int64_t again = 0;
  for (const Record& record : all) {
    std::string line = line_of(record);
    if (there.contains(line)) {
      ++again;
      continue;
    }
    writer.append_line(line);
    there.insert(std::move(line));
  }
  fmt::print(stderr, "{} of {} in {}{}\n", counted(std::ssize(all), "record"),
             counted(files, "file"), to,
             again == 0 ? "" : fmt::format(", {} of them not for the first time", again));
}

}  // namespace

ImportCommand::ImportCommand(CLI::App& app) {
  app.add_option("files", files_,
                 "files of other programs, also as .gz, and directories of "
                 "them")
      ->type_name("FILE");
  app.add_option("--from", from_,
                 "what they are, a name that --list shows; found out where not given")
      ->type_name("NAME");
  app.add_flag("--list", list_, "shows what can be read, and ends");
  app.add_option("--records", records_,
                 "JSON Lines file that the records are appended to; none: only shown")
      ->type_name("FILE");
  add_format_flag(app, format_, report::format_names());
}

int ImportCommand::run() const {
  if (list_) {
    fmt::print("{}", records::list_of_readers());
    return 0;
  }
  if (files_.empty()) {
    throw UsageError("no file is given; `paceline import --help` says how");
  }
  records::ForeignRecords all = records::read_foreign(files_, from_);
  const bool has_wrong_values = all.has_wrong_values();
  for (const std::string& note : all.notes) {
    fmt::print(stderr, "{}\n", note);
  }
  if (all.empty()) {
    throw UsageError("no file has a result");
  }
  if (!all.runs.empty() && !all.operations.empty()) {
    throw UsageError(
        "some of the files are results of trainings and some of operations (nccl-tests); import "
        "them apart");
  }
  all.runs.empty() ? show(all.operations) : show(std::move(all.runs));
  return has_wrong_values ? kWrongValuesStatus : 0;
}

void ImportCommand::show(const std::vector<records::CommRecord>& rows) const {
  const std::string text = report::render_output(format_, report::comm_output(rows, {}));
  if (!records_.empty()) {
    append_new_records(rows, records::RecordKind::kOperations, std::ssize(files_), records_);
  }
  fmt::print("{}", text);
}

void ImportCommand::show(std::vector<records::RunRecord> runs) const {
  const std::size_t count = runs.size();
  FileRecords read{.records = std::move(runs), .file_of = std::vector<std::size_t>(count)};
  keep_distinct_runs(read);
  if (!records_.empty()) {
    append_new_records(read.records, records::RecordKind::kRuns, std::ssize(files_), records_);
  }
  fmt::print("{}", report::find_format(format_).render(read.records));
}

}  // namespace paceline::cli
