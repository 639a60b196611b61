// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/case_logs.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/shell.h"
#include "paceline/base/text.h"
#include "paceline/case/command.h"
#include "paceline/plan/plan_input.h"
#include "paceline/records/json.h"
#include "paceline/report/cases.h"
#include "paceline/report/fields.h"
#include "paceline/report/layouts.h"
#include "paceline/strategies/strategy.h"

namespace paceline::report {
namespace {

namespace fs = std::filesystem;

// Returns the record file that the second line of a log names; empty if it names none.
std::string records_of_log(const fs::path& path) {
  constexpr std::string_view kRecordsLine = "# records: ";
  const std::vector<std::string> lines = split_lines(read_text_if_readable(path).value_or(""));
  return lines.size() > 1 && lines[1].starts_with(kRecordsLine)
             ? lines[1].substr(kRecordsLine.size())
             : "";
}

fs::path whole_path(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(path), error);
}

void reject_logs_of_others(const std::string& folder, const std::string& records) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("rdma-") || !name.ends_with(".log")) {
      continue;
    }
    const std::string theirs = records_of_log(entry.path());
    if (theirs.empty() || whole_path(theirs) != whole_path(records)) {
      throw UsageError(fmt::format(
          "--logs {}: {} there is of {}, and this run's records are in {}; take another folder{}",
          folder, name, theirs.empty() ? "no record file" : "the records in " + theirs, records,
          theirs.empty()
              ? ""
              : fmt::format(", or go on with --records {} --resume", shell_word(theirs))));
    }
  }
}

// Returns the parts of the strategy under the names of ddl-benchmarks. Returns null if
// ddl-benchmarks has no such names: for strategies without parts, and for strategies that exchange
// parameters instead of gradients.
Json ddl_method_json(const std::optional<strategies::StrategySpec>& spec) {
  if (!spec || spec->schedule.row == nullptr || spec->update.row->name != "gradients") {
    return nullptr;
  }
  const bool codes = spec->codec.row != &strategies::codecs().front();
  return {{"text", spec->text()},
          {"schedule", spec->schedule.row->name},
          {"exchange", spec->exchange.row->name},
          {"codec",
           codes ? Json(strategies::choice_text(*spec->codec.row, spec->codec.options)) : Json()}};
}

// Returns the number of ranks that train, since ddl-benchmarks counts workers without servers.
plan::Rank workers_of(const cases::Case& c, const std::optional<strategies::StrategySpec>& spec) {
  if (!spec) {
    return c.ranks;
  }
  plan::PlanInput input;
  input.world = c.ranks;
  input.local_world = c.ranks_per_host;
  try {
    return std::min<plan::Rank>(c.ranks, strategies::make_planner(*spec)->training_ranks(input));
  } catch (const UsageError&) {
    return c.ranks;  // the strategy cannot run on so many ranks; the log then shows that failure
  }
}

}  // namespace

void check_log_folder(const std::string& folder, const std::string& records) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw UsageError(
        fmt::format("--logs {}: is no folder and cannot be made one: {}", folder, error.message()));
  }
  check_writable("--logs", fs::path(folder) / "case.log");
  reject_logs_of_others(folder, records);
}

void write_case_logs(const std::string& folder, const LogHeader& head,
                     std::span<const records::RunRecord> records) {
  Json logs = Json::array();
  std::map<std::string, std::size_t> number;  // index in `logs` by key of the configuration
  for (std::size_t i = 0; i < records.size(); ++i) {
    const cases::Case& c = records[i].configuration;
    const auto [place, is_new] = number.try_emplace(c.key(), logs.size());
    if (is_new) {
      const auto spec = known_strategy(c);
      const auto rate = link_bytes_per_s(c);
      logs.push_back({{"configuration", records::to_json(c)},
                      {"workers", workers_of(c, spec)},
                      {"gbit_per_s", rate ? Json(*rate * 8e-9) : Json()},
                      {"method", ddl_method_json(spec)},
                      {"command", cases::command_of(c)},
                      {"runs", Json::array()}});
    }
    logs[place->second]["runs"].push_back(i);
  }
  Json input = layout_input(records);
  input["title"] = head.title;
  input["file"] = head.records;
  input["logs"] = std::move(logs);
  const Json texts = Json::parse(python_report("ddl", {"logs"}, input));
  for (const auto& [file, text] : texts.items()) {
    write_atomically(fs::path(folder) / file, text.get<std::string>());
  }
}

}  // namespace paceline::report
