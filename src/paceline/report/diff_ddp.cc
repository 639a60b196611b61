// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/report/ddp.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/text.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using nlohmann::ordered_json;

constexpr std::array kDiffPercentiles{75, 95};

std::string header_of(const DdpReport& base, const DdpReport& test) {
  const std::string rule(20, '-');
  std::string text = fmt::format("{:20} {:>20}      {:>20}\n{:20} {}      {}\n",
                                 "",
                                 "baseline",
                                 "test",
                                 "",
                                 rule,
                                 rule);
  std::map<std::string, std::string> all = base.facts;
  all.insert(test.facts.begin(), test.facts.end());
  for (const auto& [key, either] : all) {
    text += fmt::format("{:20} {:>20}  vs  {:>20}\n",
                        printable(key + ":"),
                        printable(records::fact_of(base.facts, key, "-")),
                        printable(records::fact_of(test.facts, key, "-")));
  }
  return text + "\n";
}

std::vector<double> sorted_measurements(const ordered_json& result) {
  auto seconds = result.at("measurements").get<std::vector<double>>();
  std::ranges::sort(seconds);
  return seconds;
}

std::string row_of(const ordered_json& base,
                   const ordered_json& test,
                   int batch_size) {
  const std::vector<double> before = sorted_measurements(base);
  const std::vector<double> after = sorted_measurements(test);
  if (base.at("ranks").size() != test.at("ranks").size() || before.empty() ||
      after.empty()) {
    return "";
  }
  std::string text = fmt::format("{:>4} GPUs:", test.at("ranks").size());
  for (const int p : kDiffPercentiles) {
    const double old_s = stats::quantile_sorted(before, p / 100.0);
    const double new_s = stats::quantile_sorted(after, p / 100.0);
    if (!(old_s > 0) || !(new_s > 0)) {
      return "";
    }
    text += fmt::format("  p{:02}: {:8.3f}s {:7}/s {:+8.1f}%",
                        p,
                        new_s,
                        static_cast<std::int64_t>(batch_size / new_s),
                        -100 * ((new_s - old_s) / old_s));
  }
  return text + "\n";
}

// Of a model and batch size of both.
std::string table_of(const ordered_json& base, const ordered_json& test) {
  const int batch_size = test.at("batch_size").get<int>();
  std::string text = fmt::format("Benchmark: {} with batch size {}\n\n{:10}",
                                 printable(test.at("model").get<std::string>()),
                                 batch_size,
                                 "");
  for (std::size_t i = 0; i < kDiffPercentiles.size(); ++i) {
    text += fmt::format("{:>16}{:>10}{:>10}", "sec/iter", "ex/sec", "diff");
  }
  text += "\n";
  const ordered_json& before = base.at("result");
  const ordered_json& after = test.at("result");
  for (std::size_t i = 1; i < std::min(before.size(), after.size()); ++i) {
    text += row_of(before[i], after[i], batch_size);
  }
  return text + "\n";
}

std::string text_of(const DdpReport& base, const DdpReport& test) {
  std::string text = header_of(base, test);
  const ordered_json& before = base.json.at("benchmark_results");
  const ordered_json& after = test.json.at("benchmark_results");
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i].at("model") == after[i].at("model") &&
        before[i].at("batch_size") == after[i].at("batch_size")) {
      text += table_of(before[i], after[i]);
    }
  }
  return text;
}

// At least one, which may have no results.
std::vector<DdpReport> reports_of(std::span<const records::RunRecord> records) {
  std::vector<DdpReport> reports = ddp_reports(records);
  if (reports.empty()) {
    reports.emplace_back().json = {
        {"benchmark_results", ordered_json::array()}};
  }
  return reports;
}

}  // namespace

std::string render_diff_ddp(const Diff& diff) {
  const std::vector<DdpReport> base = reports_of(diff.base_records);
  const std::vector<DdpReport> test = reports_of(diff.test_records);
  std::string text;
  for (std::size_t i = 0; i < std::min(base.size(), test.size()); ++i) {
    text += text_of(base[i], test[i]);
  }
  return text;
}

}  // namespace paceline::report
