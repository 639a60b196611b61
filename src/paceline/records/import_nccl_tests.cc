// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/import_nccl_tests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/records/importers.h"

namespace paceline::records {
namespace {

using Tests = nlohmann::json;

constexpr auto kPrograms =
    std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"all_reduce_perf", "all-reduce"},
         {"reduce_scatter_perf", "reduce-scatter"},
         {"all_gather_perf", "all-gather"},
         {"broadcast_perf", "broadcast"},
         {"sendrecv_perf", "message"}});

std::string operation_of(std::string_view text, const std::string& path) {
  for (const auto& [program, operation] : kPrograms) {
    if (text.find(program) != std::string_view::npos) {
      return std::string(operation);
    }
  }
  throw UsageError(fmt::format(
      "{}: does not say which program of nccl-tests wrote it (all_reduce_perf "
      "...); put its command line above",
      path));
}

CommRecord shared_of(std::string_view text,
                     const std::string& path,
                     const std::vector<std::string>& hosts) {
  if (hosts.empty()) {
    throw UsageError(
        fmt::format("{}: names no rank, so that bus bandwidth and bytes are "
                    "not known; keep the lines '#  Rank'",
                    path));
  }
  CommRecord shared;
  shared.operation = operation_of(text, path);
  shared.ranks = static_cast<int>(hosts.size());
  std::vector<std::string> seen;
  for (const std::string& host : hosts) {
    if (seen.empty() || seen.back() != host) {
      seen.push_back(host);
      shared.ranks_per_host.push_back(0);
    }
    ++shared.ranks_per_host.back();
  }
  shared.engine = "nccl";
  shared.device = "cuda";
  return shared;
}

std::int64_t ns_of(double us, const std::string& path) {
  if (!(us > 0 && us < 1e12)) {
    throw UsageError(fmt::format("{}: a time of {} us", path, us));
  }
  return std::max<std::int64_t>(1, std::llround(us * 1e3));
}

std::vector<CommRecord> from_text(std::string_view text,
                                  const std::string& path) {
  static const std::regex rank_pattern(
      R"(#\s+Rank\s+\d+ .* on\s+(\S+)\s+device)");
  static const std::regex warmup_pattern(R"(warmup iters:\s*(\d+))");
  static const std::regex row_pattern(
      R"(^\s*(\d+)\s+(\d+)\s+(\w+)\s+\w+\s+-?\d+\s+([0-9.e+]+)\s+[0-9.e+]+\s+[0-9.e+]+\s+(\S+))");
  static const std::regex begun_pattern(R"(^\s*\d+(\s+\d+(\s.*)?)?$)");
  std::vector<std::string> hosts;
  std::vector<CommRecord> rows;
  int warmup = 0, number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    std::smatch match;
    try {
      if (std::regex_search(line, match, rank_pattern)) {
        hosts.push_back(match[1]);
      } else if (std::regex_search(line, match, warmup_pattern)) {
        warmup = std::stoi(match[1]);
      } else if (std::regex_search(line, match, row_pattern)) {
        CommRecord& row = rows.emplace_back();
        row.bytes = std::stoll(match[1]);
        row.dtype = match[3];
        row.iteration_ns = {ns_of(std::stod(match[4]), path)};
        row.wrong_elements.reset();
        if (match[5] != "N/A") {
          row.wrong_elements = std::llround(std::stod(match[5]));
        }
      } else if (std::regex_match(line, begun_pattern)) {
        throw UsageError(
            fmt::format("{}:{}: '{}' is a row of results that is cut off",
                        path,
                        number,
                        shown(line)));
      }
    } catch (const std::logic_error&) {  // of std::stoll and the like
      throw UsageError(fmt::format(
          "{}:{}: a number in '{}' cannot be read", path, number, shown(line)));
    }
  }
  const CommRecord shared = shared_of(text, path, hosts);
  for (CommRecord& row : rows) {
    CommRecord whole = shared;
    whole.bytes = row.bytes;
    whole.dtype = row.dtype;
    whole.iteration_ns = row.iteration_ns;
    whole.wrong_elements = row.wrong_elements;
    whole.warmup = warmup;
    row = std::move(whole);
  }
  return rows;
}

std::vector<CommRecord> from_tests(const Tests& json,
                                   std::string_view text,
                                   const std::string& path) {
  std::vector<std::string> hosts;
  const Tests& config = json.at("config");
  for (const Tests& device : config.at("devices")) {
    hosts.push_back(device.at("hostname"));
  }
  const CommRecord shared = shared_of(text, path, hosts);
  std::vector<CommRecord> rows;
  for (const Tests& result : json.at("results")) {
    const char* place = result.value("out_of_place", Tests()).is_object()
                            ? "out_of_place"
                            : "in_place";
    CommRecord row = shared;
    row.bytes = result.at("size");
    row.dtype = result.at("type");
    row.warmup = config.value("warmup_iters", 0);
    row.iteration_ns = {ns_of(result.at(place).at("time"), path)};
    const Tests wrong = result.at(place).value("nwrong", Tests());
    row.wrong_elements.reset();
    if (wrong.is_number()) {
      row.wrong_elements = std::llround(wrong.get<double>());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

bool is_json(std::string_view text) {
  return trimmed(text.substr(0, 200)).starts_with('{');
}

}  // namespace

bool is_nccl_tests(std::string_view text) {
  if (is_json(text)) {
    return text.find("\"nccl_version\"") != std::string_view::npos &&
           text.find("\"alg_bw\"") != std::string_view::npos;
  }
  return text.find("algbw") != std::string_view::npos &&
         text.find("busbw") != std::string_view::npos;
}

std::vector<CommRecord> import_nccl_tests(std::string_view text,
                                          const std::string& path) {
  std::vector<CommRecord> rows;
  if (is_json(text)) {
    try {
      rows = from_tests(Tests::parse(text), text, path);
    } catch (const Tests::exception& error) {
      throw UsageError(
          fmt::format("{}: {}", path, not_json(text, error.what())));
    }
  } else {
    rows = from_text(text, path);
  }
  if (rows.empty()) {
    throw UsageError(fmt::format("{}: holds no row of results", path));
  }
  for (CommRecord& row : rows) {
    row.started_at = "";
    row.wire_bytes = std::llround(static_cast<double>(row.bytes) *
                                  bus_factor(row.operation, row.ranks));
    row.valid = std::nullopt;
  }
  return rows;
}

}  // namespace paceline::records
