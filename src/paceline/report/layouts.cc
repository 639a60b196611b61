// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/layouts.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/run_python.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/records/json.h"
#include "paceline/report/cases.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/summary.h"
#include "paceline/stats/distribution.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// Returns the number of tokens of an example; null for a network that does not read text.
Json tokens_per_example(const cases::Case& c) {
  const auto names = plan::network_names();
  if (std::ranges::find(names, c.model) == names.end()) {
    return nullptr;
  }
  const int own = plan::network_shape(c.model).default_tokens;
  if (own == 0) {
    return nullptr;
  }
  return c.sequence_length == 0 ? own : c.sequence_length;
}

Json record_json(const RunRecord& record) {
  Json json = records::to_json(record);
  if (record.link_check && !record.link_check->valid()) {
    const std::vector<records::Warning> late{slower_than_link(*record.link_check)};
    json["warnings"].push_back(records::to_json(late).front());
  }
  return json;
}

Json case_json(const CaseRecords& one, const RunRecord* first) {
  constexpr double kLevel = 0.95;
  const std::size_t tries = one.measured().size();
  Json runs = Json::array();
  for (const RunRecord* run : one.runs) {
    runs.push_back(run - first);
  }
  return {
      {"runs", std::move(runs)},
      {"job",
       one.configuration().has_tables() ? Json(table_job_text(one.configuration())) : Json()},
      {"tokens", tokens_per_example(one.configuration())},
      {"student_t",
       tries < 2 ? Json() : Json(stats::student_t_quantile(kLevel, static_cast<int>(tries) - 1))}};
}

}  // namespace

std::string python_report(const std::string& name, const std::vector<std::string>& arguments,
                          const Json& input) {
  const PythonOutput output =
      run_python("paceline.reports." + name, arguments, json_text(input, -1));
  if (output.exit_code != 0) {
    throw WorldError(fmt::format("the report {} ended with {}: {}", name, output.exit_code,
                                 last_error_line(output)));
  }
  return output.text;
}

Json layout_input(std::span<const RunRecord> records) {
  Json all{{"cases", Json::array()}, {"records", Json::array()}};
  for (const RunRecord& record : records) {
    all["records"].push_back(record_json(record));
  }
  std::vector<const cases::Case*> configurations;
  const std::vector<CaseRecords> cases = group_cases(records);
  for (const CaseRecords& one : cases) {
    all["cases"].push_back(case_json(one, records.data()));
    configurations.push_back(&one.configuration());
  }
  const std::vector<std::string> strategies = short_strategies(configurations);
  const std::vector<std::string> labels = unique_labels(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    all["cases"][i]["strategy"] = strategies[i];
    all["cases"][i]["label"] = labels[i];
  }
  return all;
}

std::string render_layout(const std::string& name, std::span<const RunRecord> records,
                          const std::string& command) {
  return records.empty() ? "" : python_report(name, {command}, layout_input(records));
}

Json ddp_reports(std::span<const RunRecord> records) {
  return Json::parse(python_report("ddp", {"json"}, layout_input(records)));
}

std::vector<std::string> write_ddp_reports(const std::string& path,
                                           std::span<const RunRecord> records) {
  std::vector<std::string> files;
  for (const Json& one : ddp_reports(records)) {
    std::filesystem::path file(path);
    if (const auto name = one["name"].get<std::string>(); !name.empty()) {
      file.replace_filename(
          fmt::format("{}-{}{}", file.stem().string(), name, file.extension().string()));
    }
    write_atomically(file, one["report"].dump(-1, ' ', true));
    files.push_back(file.string());
  }
  return files;
}

std::string render_diff_ddp(const Diff& diff) {
  return python_report(
      "ddp", {"diff"},
      {{"base", layout_input(diff.base_records)}, {"test", layout_input(diff.test_records)}});
}

}  // namespace paceline::report
