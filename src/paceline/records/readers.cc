// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/readers.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/file.h"
#include "paceline/base/run_python.h"
#include "paceline/base/text.h"
#include "paceline/records/json.h"
#include "paceline/records/store.h"

namespace paceline::records {
namespace {

PythonOutput run_readers(const std::vector<std::string>& arguments) {
  return run_python("paceline.readers", arguments);
}

void check_ended(const PythonOutput& output) {
  const std::string said(trimmed(output.errors));
  if (output.exit_code == kUsageErrorStatus && !said.empty()) {
    throw UsageError(said);
  }
  if (output.exit_code != 0 && output.exit_code != kWrongValuesStatus) {
    throw WorldError(fmt::format("the readers of other programs' files ended with {}: {}",
                                 output.exit_code, last_error_line(output)));
  }
}

// Adds a line of output, which is a record, or the index of the input file of the records that
// follow.
void add_line(const std::string& line, ForeignRecords& found) {
  const nlohmann::json json = nlohmann::json::parse(line);
  const std::string kind = json.value("kind", "");
  if (kind == "file") {
    found.known.insert(json.at("place").get<std::size_t>());
  } else if (kind == "comm") {
    found.operations.push_back(comm_record_from(json));
    found.file_of_operation.push_back(*found.known.rbegin());
  } else {
    found.runs.push_back(from_json(json));
    found.file_of_run.push_back(*found.known.rbegin());
  }
}

ForeignRecords records_of(const PythonOutput& output) {
  check_ended(output);
  ForeignRecords found;
  for (const std::string& line : split_lines(output.text)) {
    if (trimmed(line).empty()) {
      continue;
    }
    try {
      add_line(line, found);
    } catch (const std::exception& error) {
      throw WorldError(fmt::format("the readers of other programs' files wrote no record: {}: {}",
                                   error.what(), shown(line)));
    }
  }
  for (const std::string& line : split_lines(output.errors)) {
    if (!trimmed(line).empty()) {
      found.notes.push_back(line);
    }
  }
  return found;
}

// Returns the arguments of the readers.  After "--", a name that begins with '-' counts as a file.
std::vector<std::string> after_options(std::vector<std::string> options,
                                       const std::vector<std::string>& files) {
  options.insert(options.end(), {"--by-file", "--"});
  options.insert(options.end(), files.begin(), files.end());
  return options;
}

}  // namespace

bool ForeignRecords::has_wrong_values() const {
  return std::ranges::any_of(operations, &CommRecord::has_wrong_values) ||
         std::ranges::any_of(runs, [](const RunRecord& run) {
           return std::ranges::any_of(run.warnings, is_of_wrong_values);
         });
}

ForeignRecords read_foreign(const std::vector<std::string>& files, const std::string& from) {
  std::vector<std::string> options;
  if (!from.empty()) {
    options = {"--from=" + from};
  }
  return records_of(run_readers(after_options(options, files)));
}

ForeignRecords read_foreign_if_known(const std::vector<std::string>& files) {
  return records_of(run_readers(after_options({"--if-known"}, files)));
}

bool is_record_file(std::string_view text) {
  const std::string_view begin = trimmed(text.substr(0, text.find('\n')));
  return begin.empty() ? trimmed(text).empty() : begin.starts_with(R"({"version":1,"source":)");
}

bool is_operation_file(std::string_view text) {
  return trimmed(text.substr(0, text.find('\n'))).starts_with(R"({"kind":"comm")");
}

FileContents read_paceline_file(const std::string& text, const std::string& path) {
  std::istringstream in(text);
  FileContents file;
  const bool has_operations = is_operation_file(text);
  file.notes = for_each_record(in, path, BrokenTail::kSkip, [&](const std::string& line) {
    if (has_operations) {
      file.operations.push_back(comm_record_from_line(line));
    } else {
      file.runs.push_back(from_line(line));
    }
  });
  return file;
}

std::vector<FileContents> read_any(const std::vector<std::string>& paths) {
  std::vector<FileContents> files(paths.size());
  std::vector<std::string> others;
  std::vector<std::size_t> places;  // indices of `others` in `paths`
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool one_file = !std::filesystem::is_directory(paths[i]);
    const std::string text = one_file ? read_text(paths[i]) : "";
    if (one_file && paths.size() > 1 && trimmed(text).empty()) {
      files[i].notes = {paths[i] + ": is empty; it is left out"};
    } else if (one_file && (is_operation_file(text) || is_record_file(text))) {
      files[i] = read_paceline_file(text, paths[i]);
    } else {
      others.push_back(paths[i]);
      places.push_back(i);
    }
  }
  if (others.empty()) {
    return files;
  }
  ForeignRecords found = read_foreign_if_known(others);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (!found.known.contains(i)) {
      files[places[i]] = read_paceline_file(read_text(others[i]), others[i]);
    }
  }
  for (std::size_t i = 0; i < found.operations.size(); ++i) {
    files[places[found.file_of_operation[i]]].operations.push_back(std::move(found.operations[i]));
  }
  for (std::size_t i = 0; i < found.runs.size(); ++i) {
    files[places[found.file_of_run[i]]].runs.push_back(std::move(found.runs[i]));
  }
  files[places.front()].notes = std::move(found.notes);
  return files;
}

std::string list_of_readers() {
  const PythonOutput output = run_readers({"--list"});
  check_ended(output);
  return output.text;
}

nlohmann::json cluster_facts_in(const std::string& file) {
  const PythonOutput output = run_python("paceline.readers.cluster_facts", {file});
  check_ended(output);
  return nlohmann::json::parse(output.text);
}

std::string failure_reason_in(const std::string& log) {
  return log.empty() ? "" : run_python("paceline.readers.failure_reason", {log}).text;
}

}  // namespace paceline::records
