// SPDX-License-Identifier: Apache-2.0
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
#include "paceline/base/ranks_per_host.h"
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

constexpr double kRateTolerance = 0.01;

// A figure with the rounding of its last printed digit.
struct Printed {
  double value = 0;
  double rounding = 0;
};

Printed printed_of(const std::string& text) {
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), exponent);
  const auto decimals =
      static_cast<int>(exponent - std::min(point + 1, exponent));
  const int power =
      exponent < text.size() ? std::stoi(text.substr(exponent + 1)) : 0;
  return {std::stod(text), 0.5 * std::pow(10, power - decimals)};
}

struct Row {
  CommRecord record;
  Printed time_us, algorithm, bus;  // bandwidths in GB/s
};

// The program's own figures must be those of the ranks and times read here.
void check_rates(Row& row, const std::string& path) {
  CommRecord& record = row.record;
  const double factor = bus_factor(record.operation, record.ranks);
  const double bus = factor * row.algorithm.value;
  const double room = row.bus.rounding + factor * row.algorithm.rounding +
                      kRateTolerance * std::max(bus, row.bus.value);
  if (std::abs(row.bus.value - bus) > room) {
    throw UsageError(fmt::format(
        "{}: {} bytes: the file says a bus bandwidth of {} GB/s, and its {} "
        "make {:.6g} GB/s of the bandwidth of {} GB/s; the devices that it "
        "names are not all that took part",
        path,
        record.bytes,
        row.bus.value,
        counted(record.ranks, "rank"),
        bus,
        row.algorithm.value));
  }
  const double rate =
      static_cast<double>(record.bytes) / row.time_us.value * 1e-3;
  const double rate_room = row.algorithm.rounding +
                           rate * row.time_us.rounding / row.time_us.value +
                           kRateTolerance * std::max(rate, row.algorithm.value);
  if (std::abs(row.algorithm.value - rate) > rate_room) {
    record.warnings.push_back(
        {.code = "rate-differs",
         .seen = fmt::format("{} bytes: the file says a bandwidth of {} GB/s, "
                             "and size and time make {:.6g} GB/s",
                             record.bytes,
                             row.algorithm.value,
                             rate),
         .why = "one of the three figures is not of this operation",
         .advice = "compare the file with the program's own output; size and "
                   "time are used here"});
  }
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
  shared.ranks_per_host = ranks_per_host<std::string>(hosts);
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

std::vector<Row> from_text(std::string_view text, const std::string& path) {
  static const std::regex rank_pattern(
      R"(#\s+Rank\s+\d+ .* on\s+(\S+)\s+device)");
  static const std::regex iterations_pattern(
      R"(warmup iters:\s*(\d+)(?:\s+iters:\s*(\d+))?(?:\s+agg iters:\s*(\d+))?)");
  static const std::regex row_pattern(
      R"(^\s*(\d+)\s+(\d+)\s+(\w+)\s+\w+\s+-?\d+\s+([0-9.e+]+)\s+([0-9.e+]+)\s+([0-9.e+]+)\s+(\S+))");
  static const std::regex begun_pattern(R"(^\s*\d+(\s+\d+(\s.*)?)?$)");
  std::vector<std::string> hosts;
  std::vector<Row> rows;
  int warmup = 0, iterations = 0, number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    std::smatch match;
    try {
      if (std::regex_search(line, match, rank_pattern)) {
        hosts.push_back(match[1]);
      } else if (std::regex_search(line, match, iterations_pattern)) {
        warmup = std::stoi(match[1]);
        iterations = (match[2].matched ? std::stoi(match[2]) : 0) *
                     (match[3].matched ? std::stoi(match[3]) : 1);
      } else if (std::regex_search(line, match, row_pattern)) {
        rows.push_back({.record = {},
                        .time_us = printed_of(match[4]),
                        .algorithm = printed_of(match[5]),
                        .bus = printed_of(match[6])});
        CommRecord& row = rows.back().record;
        row.bytes = std::stoll(match[1]);
        row.dtype = match[3];
        row.wrong_elements.reset();
        if (match[7] != "N/A") {
          row.wrong_elements = std::llround(std::stod(match[7]));
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
  for (Row& row : rows) {
    CommRecord whole = shared;
    whole.bytes = row.record.bytes;
    whole.dtype = row.record.dtype;
    whole.wrong_elements = row.record.wrong_elements;
    whole.warmup = warmup;
    whole.mean_of = iterations;
    row.record = std::move(whole);
  }
  return rows;
}

// A host for each rank.  The program writes a line for each device; where it
// wrote one for each process, each stands for the process's devices.
std::vector<std::string> hosts_of(const Tests& config) {
  std::vector<std::string> hosts;
  std::set<std::int64_t> processes;
  const Tests& devices = config.at("devices");
  for (const Tests& device : devices) {
    processes.insert(
        device.value("pid", static_cast<std::int64_t>(processes.size())));
  }
  const int on_a_process =
      config.value("nthreads", 1) * config.value("ngpus", 1);
  const int repeats = processes.size() == devices.size() ? on_a_process : 1;
  for (const Tests& device : devices) {
    hosts.insert(hosts.end(),
                 static_cast<std::size_t>(std::clamp(repeats, 1, 1024)),
                 device.at("hostname").get<std::string>());
  }
  return hosts;
}

std::vector<Row> from_tests(const Tests& json,
                            std::string_view text,
                            const std::string& path) {
  const Tests& config = json.at("config");
  const CommRecord shared = shared_of(text, path, hosts_of(config));
  std::vector<Row> rows;
  for (const Tests& result : json.at("results")) {
    const char* place = result.value("out_of_place", Tests()).is_object()
                            ? "out_of_place"
                            : "in_place";
    const Tests& figures = result.at(place);
    const auto printed = [&](const char* key) {
      return printed_of(fmt::format("{}", figures.at(key).get<double>()));
    };
    Row row{.record = shared,
            .time_us = printed("time"),
            .algorithm = printed("alg_bw"),
            .bus = printed("bus_bw")};
    row.record.bytes = result.at("size");
    row.record.dtype = result.at("type");
    row.record.warmup = config.value("warmup_iters", 0);
    row.record.mean_of =
        config.value("iters", 0) * config.value("agg_iters", 1);
    const Tests wrong = figures.value("nwrong", Tests());
    row.record.wrong_elements.reset();
    if (wrong.is_number()) {
      row.record.wrong_elements = std::llround(wrong.get<double>());
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
  std::vector<Row> rows;
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
  std::vector<CommRecord> records;
  for (Row& row : rows) {
    CommRecord& record = row.record;
    record.iteration_ns = {ns_of(row.time_us.value, path)};
    check_rates(row, path);
    record.formula =
        "mean time of the program's iterations; bandwidth: size / "
        "time";
    record.wire_bytes =
        std::llround(static_cast<double>(record.bytes) *
                     bus_factor(record.operation, record.ranks));
    record.valid = std::nullopt;
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace paceline::records
