// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/import_command.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/record_files.h"
#include "paceline/records/importers.h"
#include "paceline/records/json.h"
#include "paceline/records/same_run.h"
#include "paceline/records/store.h"
#include "paceline/report/comm_table.h"
#include "paceline/report/formats.h"

namespace paceline::cli {
namespace {

constexpr const char* kNcclTests = "nccl-tests";

std::vector<std::string> names() {
  std::vector<std::string> all = report::names_of(records::importers());
  all.emplace_back(kNcclTests);
  return all;
}

const records::Importer& importer_for(const std::string& from,
                                      const std::string& text,
                                      const std::string& path) {
  const records::Importer* found = nullptr;
  if (from.empty()) {
    found = records::importer_of(text, path);
  } else {
    const auto all = records::importers();
    const auto named = std::ranges::find(all, from, &records::Importer::name);
    found = named == all.end() ? nullptr : &*named;
  }
  if (found == nullptr) {
    throw UsageError(fmt::format(
        "{}: is none of the files that can be imported: {}; --from names one",
        path,
        fmt::join(names(), ", ")));
  }
  return *found;
}

// The results of nccl-tests are operations, not trainings.
int import_operations(const std::string& path,
                      const std::string& text,
                      const std::string& to,
                      const std::string& format_name) {
  const auto& format = report::find_format(report::comm_formats(), format_name);
  const std::vector<records::CommRecord> rows =
      records::import_nccl_tests(text, path);
  if (!to.empty()) {
    for (const records::CommRecord& row : rows) {
      append_line(to, records::to_line(records::to_json(row, {})));
    }
  }
  fmt::print("{}", format.render(rows, {}));
  return 0;
}

// Appends the records that the file does not have yet.
void append_new(const std::vector<records::RunRecord>& all,
                std::int64_t files,
                const std::string& to) {
  std::vector<records::RunRecord> there;
  if (std::filesystem::exists(to)) {
    there = records::read_records(to, records::BrokenTail::kSkip).records;
  }
  records::RecordWriter writer(to);
  std::int64_t again = 0;
  for (const records::RunRecord& record : all) {
    if (std::ranges::any_of(there, [&](const records::RunRecord& other) {
          return records::has_same_samples(other, record);
        })) {
      ++again;
      continue;
    }
    writer.append(record);
    there.push_back(record);
  }
  fmt::print(stderr,
             "{} of {} in {}{}\n",
             counted(std::ssize(all), "record"),
             counted(files, "file"),
             to,
             again == 0
                 ? ""
                 : fmt::format(", {} of them not for the first time", again));
}

}  // namespace

ImportCommand::ImportCommand(CLI::App& app) {
  app.add_option("files", files_, "files of other programs")
      ->required()
      ->type_name("FILE");
  app.add_option("--from",
                 from_,
                 fmt::format("what they are: {}; found out where not given",
                             fmt::join(names(), ", ")))
      ->type_name("NAME")
      ->check(one_of("kind of file", names()));
  app.add_option("--records",
                 records_,
                 "JSON Lines file that the records are appended to; none: only "
                 "shown")
      ->type_name("FILE");
  app.add_option("--format", format_, "what is printed, as of `paceline run`")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(one_of("format", report::names_of(report::formats())));
}

int ImportCommand::run() const {
  refuse_repeats(files_);
  std::vector<records::RunRecord> all;
  for (const std::string& path : files_) {
    const std::string text = read_text(path);
    const bool operations =
        from_.empty() ? records::is_nccl_tests(text) : from_ == kNcclTests;
    if (operations) {
      if (files_.size() > 1) {
        throw UsageError(fmt::format(
            "{}: is a result of nccl-tests, which is imported alone", path));
      }
      return import_operations(path, text, records_, format_);
    }
    if (from_.empty() && leaves_out(path, text)) {
      continue;
    }
    const records::Importer& importer = importer_for(from_, text, path);
    std::vector<records::RunRecord> found = importer.read(text, path);
    if (found.empty()) {
      throw UsageError(
          fmt::format("{}: holds no result in the form of {}; --from names "
                      "another of {}",
                      path,
                      importer.name,
                      fmt::join(names(), ", ")));
    }
    std::ranges::move(found, std::back_inserter(all));
  }
  if (all.empty()) {
    throw UsageError("no file has a result");
  }
  const std::size_t count = all.size();
  FileRecords read{.records = std::move(all),
                   .file_of = std::vector<std::size_t>(count),
                   .numbers = std::vector<std::size_t>(count)};
  keep_distinct_runs(read);
  if (!records_.empty()) {
    append_new(read.records, std::ssize(files_), records_);
  }
  fmt::print("{}", report::find_format(format_).render(read.records));
  return 0;
}

}  // namespace paceline::cli
