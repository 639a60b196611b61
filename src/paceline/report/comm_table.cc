// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/comm_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::report {
namespace {

using records::CommRecord;

constexpr std::array<std::string_view, 3> kFormats{"table", "csv", "json"};

std::string size_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

// Three significant digits, microseconds.
std::string micro_text(double ns) {
  const double us = ns * 1e-3;
  return fmt::format("{:.{}f}", us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

// GB/s, 10^9 bytes.
std::string rate_text(double bytes_per_s) {
  const double rate = bytes_per_s * 1e-9;
  return fmt::format("{:.{}f}", rate, rate < 10 ? 3 : 2);
}

std::string share_text(const CommRecord& record) {
  const auto share = record.line_share();
  return share ? fmt::format("{:.1f} %", *share * 100) : "-";
}

std::string remark(const CommRecord& record) {
  if (record.wrong_elements > 0) {
    return fmt::format("  {} WRONG ELEMENTS", record.wrong_elements);
  }
  if (!record.valid.value_or(true)) {
    return "  INVALID: the engine is slower than the link";
  }
  return "";
}

std::string heading(const CommRecord& first, std::string_view operation) {
  std::string text = fmt::format("{}, {} ranks ({}), {} on {}, {}",
                                 operation,
                                 first.ranks,
                                 fmt::join(first.ranks_per_host, "+"),
                                 first.engine,
                                 first.device,
                                 first.dtype);
  if (!first.link.empty()) {
    text += fmt::format(", modelled link {}", first.link);
  }
  return text + "\n";
}

std::string block(std::span<const CommRecord> records,
                  std::string_view operation) {
  std::string text;
  for (const CommRecord& r : records) {
    if (r.operation != operation) {
      continue;
    }
    if (text.empty()) {
      text = heading(r, operation) +
             fmt::format(
                 "{:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9} "
                 "{:>9} {:>8}\n",
                 "size",
                 "p10 us",
                 "median us",
                 "p90 us",
                 "p99 us",
                 "alg GB/s",
                 "bus GB/s",
                 "wire GB/s",
                 "of line");
    }
    text += fmt::format(
        "{:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>8}{}\n",
        size_text(r.bytes),
        micro_text(r.quantile_ns(0.1)),
        micro_text(r.median_ns()),
        micro_text(r.quantile_ns(0.9)),
        micro_text(r.quantile_ns(0.99)),
        rate_text(r.algorithm_bandwidth()),
        rate_text(r.bus_bandwidth()),
        rate_text(r.wire_bandwidth()),
        share_text(r),
        remark(r));
  }
  return text;
}

std::string footing(const CommRecord& first) {
  std::string text = fmt::format(
      "times: of {} iterations, in each the slowest rank's; alg: size / "
      "median, bus: as nccl-tests has it; wire: what a rank sends\n",
      first.iteration_ns.size());
  if (first.line_bytes_per_s > 0) {
    text += fmt::format(
        "line: {} GB/s, {}\n",
        rate_text(first.line_bytes_per_s),
        first.link.empty()
            ? "a plain stream from one of these processes to its neighbor, the "
              "fastest of this run"
            : "that of the modelled link");
  }
  return text;
}

std::string render_table(std::span<const CommRecord> records) {
  std::vector<std::string_view> operations;
  std::string text;
  std::vector<std::string> warnings;
  for (const CommRecord& r : records) {
    if (std::ranges::find(operations, r.operation) == operations.end()) {
      operations.push_back(r.operation);
      text += block(records, r.operation) + "\n";
    }
    for (const records::Warning& w : r.warnings) {
      const std::string sentence =
          fmt::format("warning: {}: {}; {}\n", w.seen, w.why, w.advice);
      if (std::ranges::find(warnings, sentence) == warnings.end()) {
        warnings.push_back(sentence);
      }
    }
  }
  if (!records.empty()) {
    text += footing(records.front());
  }
  for (const std::string& warning : warnings) {
    text += warning;
  }
  return text;
}

std::string render_csv(std::span<const CommRecord> records) {
  std::string text =
      "operation,bytes,ranks,engine,device,dtype,link,iterations,min_us,p10_us,"
      "p50_us,p90_us,p99_us,max_us,algorithm_bytes_per_s,bus_bytes_per_s,"
      "wire_bytes_per_s,line_bytes_per_s,wrong_elements,valid\n";
  for (const CommRecord& r : records) {
    text += fmt::format("{},{},{},{},{},{},\"{}\",{}",
                        r.operation,
                        r.bytes,
                        r.ranks,
                        r.engine,
                        r.device,
                        r.dtype,
                        r.link,
                        r.iteration_ns.size());
    for (const double p : {0.0, 0.1, 0.5, 0.9, 0.99, 1.0}) {
      text += fmt::format(",{:.3f}", r.quantile_ns(p) * 1e-3);
    }
    text += fmt::format(
        ",{:.0f},{:.0f},{:.0f},{},{},{}\n",
        r.algorithm_bandwidth(),
        r.bus_bandwidth(),
        r.wire_bandwidth(),
        r.line_bytes_per_s > 0 ? fmt::format("{:.0f}", r.line_bytes_per_s) : "",
        r.wrong_elements,
        r.valid ? fmt::format("{}", *r.valid) : "");
  }
  return text;
}

std::string render_json(std::span<const CommRecord> records,
                        const records::Environment& environment) {
  auto all = nlohmann::ordered_json::array();
  for (const CommRecord& r : records) {
    all.push_back(records::to_json(r, environment));
  }
  return all.dump(
             1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace

std::span<const std::string_view> comm_formats() {
  return kFormats;
}

std::string render_comm(std::string_view format,
                        std::span<const CommRecord> records,
                        const records::Environment& environment) {
  if (format == "table") {
    return render_table(records);
  }
  if (format == "csv") {
    return render_csv(records);
  }
  if (format == "json") {
    return render_json(records, environment);
  }
  const std::vector<std::string> known(kFormats.begin(), kFormats.end());
  throw UsageError("--format: " +
                   unknown_name("format", std::string(format), known));
}

}  // namespace paceline::report
