// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/ddp.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/records/json.h"
#include "paceline/report/cases.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/python_report.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// The records, and each case with the indices of its runs and its strategy in short.
Json cases_of(std::span<const RunRecord> records) {
  Json all{{"cases", Json::array()}, {"records", Json::array()}};
  for (const RunRecord& record : records) {
    all["records"].push_back(records::to_json(record));
  }
  const std::vector<Case> cases = group_cases(records);
  std::vector<const records::Configuration*> configurations;
  for (const Case& one : cases) {
    configurations.push_back(&one.configuration());
  }
  const std::vector<std::string> strategies = short_strategies(configurations);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Json runs = Json::array();
    for (const RunRecord* run : cases[i].runs) {
      runs.push_back(run - records.data());
    }
    all["cases"].push_back({{"runs", std::move(runs)}, {"strategy", strategies[i]}});
  }
  return all;
}

}  // namespace

std::string render_ddp(std::span<const RunRecord> records) {
  return records.empty() ? "" : python_report("ddp", {"text"}, cases_of(records));
}

std::vector<DdpReport> ddp_reports(std::span<const RunRecord> records) {
  std::vector<DdpReport> reports;
  for (Json& one : Json::parse(python_report("ddp", {"json"}, cases_of(records)))) {
    reports.push_back({one["name"], std::move(one["report"])});
  }
  return reports;
}

std::string render_ddp_json(const DdpReport& report) {
  return report.json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string render_ddp_json(std::span<const RunRecord> records) {
  const std::vector<DdpReport> reports = ddp_reports(records);
  PACELINE_CHECK_EQ(reports.size(), std::size_t{1});
  return render_ddp_json(reports.front());
}

std::vector<std::string> write_ddp_reports(const std::string& path,
                                           std::span<const RunRecord> records) {
  std::vector<std::string> files;
  for (const DdpReport& report : ddp_reports(records)) {
    std::filesystem::path file(path);
    if (!report.name.empty()) {
      file.replace_filename(
          fmt::format("{}-{}{}", file.stem().string(), report.name, file.extension().string()));
    }
    write_atomically(file, render_ddp_json(report));
    files.push_back(file.string());
  }
  return files;
}

std::string render_diff_ddp(const Diff& diff) {
  return python_report(
      "ddp", {"diff"},
      {{"base", cases_of(diff.base_records)}, {"test", cases_of(diff.test_records)}});
}

}  // namespace paceline::report
