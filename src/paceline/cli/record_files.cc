// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/record_files.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/records/json.h"
#include "paceline/records/readers.h"
#include "paceline/records/same_run.h"

namespace paceline::cli {
namespace {

std::string text_of(const std::vector<records::CommRecord>& operations) {
  std::string text;
  for (const records::CommRecord& one : operations) {
    text += records::to_line(records::to_json(one, {})) + "\n";
  }
  return text;
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

void reject_repeats(const std::vector<std::string>& files) {
  for (auto file = files.begin(); file != files.end(); ++file) {
    const auto again = std::find_if(
        files.begin(), file, [&](const std::string& one) { return is_same_file(one, *file); });
    if (again != file) {
      throw UsageError(fmt::format("{}: given twice; its runs would count twice", *file));
    }
  }
}

void keep_distinct_runs(FileRecords& read) {
  const std::vector<std::size_t> places = records::distinct_runs(read.records, read.file_of);
  if (const std::size_t again = read.records.size() - places.size(); again > 0) {
    fmt::print(stderr,
               "paceline: not counted: {} of a run that another record says too (a second import, "
               "or a command given again; --runs makes further runs)\n",
               counted(static_cast<std::int64_t>(again), "record"));
  }
  FileRecords kept;
  kept.operations = std::move(read.operations);
  for (const std::size_t place : places) {
    kept.records.push_back(std::move(read.records[place]));
    kept.file_of.push_back(read.file_of[place]);
  }
  read = std::move(kept);
}

FileRecords read_record_files(const std::vector<std::string>& files, Operations operations) {
  reject_repeats(files);
  std::vector<records::FileContents> found = records::read_any(files);
  FileRecords all;
  std::set<std::string> tables;  // texts of operations, by which copies are recognized
  for (std::size_t file = 0; file < files.size(); ++file) {
    records::FileContents& read = found[file];
    for (const std::string& note : read.notes) {
      fmt::print(stderr, "paceline: {}\n", note);
    }
    if (!read.operations.empty() && operations == Operations::kRejected) {
      throw UsageError(
          fmt::format("{}: has records of operations, which `paceline diff` compares, `paceline "
                      "import` shows and `paceline calibrate` makes a cluster file of",
                      files[file]));
    }
    if (!read.operations.empty() && !tables.insert(text_of(read.operations)).second) {
      fmt::print(stderr, "paceline: {}: holds what an earlier file does, and is not counted\n",
                 files[file]);
      continue;
    }
    std::ranges::move(read.operations, std::back_inserter(all.operations));
    std::ranges::move(read.runs, std::back_inserter(all.records));
    all.file_of.resize(all.records.size(), file);
    if (!all.operations.empty() && !all.records.empty()) {
      throw UsageError(
          fmt::format("{}: some of the files are results of trainings and some of operations; "
                      "compare them apart",
                      files[file]));
    }
  }
  keep_distinct_runs(all);
  return all;
}

}  // namespace paceline::cli
