// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/report.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/record_files.h"
#include "paceline/report/formats.h"
#include "paceline/report/page.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPage = "page";

constexpr auto kExtensions = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{".html", kPage}, {".htm", kPage}, {".md", "markdown"}, {".csv", "csv"}, {".json", "json"}});

constexpr std::string_view kTableExtension = ".txt";

std::vector<std::string> format_names() {
  std::vector<std::string> names = report::format_names();
  names.emplace_back(kPage);
  return names;
}

}  // namespace

std::string format_of_file(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension.empty() || extension == kTableExtension) {
    return "table";
  }
  std::string allowed;
  for (const auto& [end, format] : kExtensions) {
    if (extension == end) {
      return std::string(format);
    }
    allowed += fmt::format("{}, ", end);
  }
  throw UsageError(
      fmt::format("--output: '{}' ends in {}, which is no format; allowed are {}{} or no ending; "
                  "--format NAME takes any name",
                  path, extension, allowed, kTableExtension));
}

ReportCommand::ReportCommand(CLI::App& app) {
  app.add_option("records", files_,
                 "files of records (JSON Lines), or the JSON of PyTorch's DDP benchmark")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--output", output_, "write here, not to stdout")->type_name("FILE");
  app.add_option("--format", format_,
                 "page, or a format of `paceline list`; by default what the output's name ends in "
                 "(.html, .md, .csv, .json), else table")
      ->type_name("NAME")
      ->check(one_of("format", format_names()));
  app.add_option("--title", title_, "title of the page; the experiments' names")->type_name("TEXT");
}

int ReportCommand::run() const {
  for (const std::string& file : files_) {
    if (!output_.empty() && is_same_file(file, output_)) {
      throw UsageError(fmt::format("--output: '{}' is a file of records to read", file));
    }
  }
  const std::string format = format_.empty() ? format_of_file(output_) : format_;
  if (!title_.empty() && format != kPage) {
    throw UsageError(fmt::format("--title: only a page has one, not '{}'", format));
  }
  if (!output_.empty()) {
    check_writable("--output", output_);
  }
  const std::vector<records::RunRecord> records = read_record_files(files_).records;
  if (records.empty()) {
    throw UsageError(fmt::format("{}: holds no records", fmt::join(files_, ", ")));
  }
  const std::string text = format == kPage ? report::render_page(records, title_)
                                           : report::find_format(format).render(records);
  if (output_.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return 0;
  }
  write_atomically(output_, text);
  fmt::print(stderr, "{}: {}\n", format, output_);
  return 0;
}

}  // namespace paceline::cli
