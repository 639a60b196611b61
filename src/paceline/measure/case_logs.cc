// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/case_logs.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/shell.h"

namespace paceline::measure {

namespace fs = std::filesystem;

namespace {

bool is_log_of_case(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(report::kDdlLogBegin) && name.ends_with(report::kDdlLogEnd);
}

bool is_same_path(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(a), error) ==
         fs::weakly_canonical(fs::absolute(b), error);
}

void refuse_logs_of_others(const std::string& folder, const std::string& records) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!is_log_of_case(entry.path())) {
      continue;
    }
    const std::string name = entry.path().filename().string();
    const std::string theirs =
        report::records_of_ddl_log(read_text_if_readable(entry.path()).value_or(""));
    if (theirs.empty()) {
      throw UsageError(
          fmt::format("--logs {}: {} there names no record file, and this run may replace it; take "
                      "another folder, or move it away",
                      folder, name));
    }
    if (!is_same_path(theirs, records)) {
      throw UsageError(
          fmt::format("--logs {}: {} there is of the records in {}, and this run's are in {}; take "
                      "another folder, or go on with --records {} --resume",
                      folder, name, theirs, records, shell_word(theirs)));
    }
  }
}

}  // namespace

CaseLogs::CaseLogs(std::string folder, report::DdlLogHead head)
    : folder_(std::move(folder)), head_(std::move(head)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  check_writable("--logs", fs::path(folder_) / "case.log");
  refuse_logs_of_others(folder_, head_.records);
}

void CaseLogs::write(std::span<const records::RunRecord> records) {
  if (folder_.empty()) {
    return;
  }
  std::set<std::string> changed;
  for (; known_ < records.size(); ++known_) {
    const std::string& name = names_.of(records[known_].configuration);
    records_of_[name].push_back(known_);
    changed.insert(name);
  }
  for (const std::string& name : changed) {
    std::vector<records::RunRecord> runs;
    for (const std::size_t index : records_of_.at(name)) {
      runs.push_back(records[index]);
    }
    write_atomically(fs::path(folder_) / name, report::ddl_log(head_, runs));
  }
}

}  // namespace paceline::measure
