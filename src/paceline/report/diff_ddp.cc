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
#include "paceline/report/diff_notes.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::RunRecord;

constexpr std::array kDiffPercentiles{75, 95};

// The facts above the results in the benchmark's JSON.
std::map<std::string, std::string> facts_of(const RunRecord* record) {
  if (record == nullptr) {
    return {};
  }
  const records::Environment& e = record->environment;
  const records::Configuration& c = record->configuration;
  std::map<std::string, std::string> facts{
      {"bucket_size", fmt::format("{:.0f}", c.bucket_mb)},
      {"cuda_version", e.cuda_version.empty() ? "None" : e.cuda_version},
      {"distributed_backend", c.engine},
      {"pytorch_version", e.torch_version}};
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

const RunRecord* first_of(const Diff& diff,
                          Case CasePair::*side,
                          const std::vector<Case>& unpaired) {
  if (!diff.rows.empty()) {
    return &(diff.rows.front().cases.*side).first();
  }
  return unpaired.empty() ? nullptr : &unpaired.front().first();
}

std::string header_of(const Diff& diff) {
  const auto base = facts_of(first_of(diff, &CasePair::base, diff.only_base));
  const auto test = facts_of(first_of(diff, &CasePair::test, diff.only_test));
  const std::string rule(20, '-');
  std::string text = fmt::format("{:20} {:>20}      {:>20}\n{:20} {}      {}\n",
                                 "",
                                 "baseline",
                                 "test",
                                 "",
                                 rule,
                                 rule);
  for (const char* key : {"bucket_size",
                          "cuda_version",
                          "distributed_backend",
                          "pytorch_version"}) {
    const auto before = base.find(key);
    const auto after = test.find(key);
    if (before != base.end() || after != test.end()) {
      text += fmt::format("{:20} {:>20}  vs  {:>20}\n",
                          std::string(key) + ":",
                          before == base.end() ? "-" : before->second,
                          after == test.end() ? "-" : after->second);
    }
  }
  return text + "\n";
}

std::vector<double> sorted(std::vector<double> values) {
  std::ranges::sort(values);
  return values;
}

std::string row_of(const DiffRow& row) {
  const std::vector<double> base = sorted(pooled_over_runs(row.cases.base));
  const std::vector<double> test = sorted(pooled_over_runs(row.cases.test));
  if (base.empty() || test.empty()) {
    return "";
  }
  std::string text = fmt::format("{:>4} GPUs:", row.configuration().ranks);
  for (const int p : kDiffPercentiles) {
    const double before = stats::quantile_sorted(base, p / 100.0);
    const double after = stats::quantile_sorted(test, p / 100.0);
    if (!(before > 0) || !(after > 0)) {
      return "";
    }
    text += fmt::format(
        "  p{:02}: {:8.3f}s {:7}/s {:+8.1f}%",
        p,
        after,
        static_cast<std::int64_t>(row.configuration().batch_size / after),
        -100 * ((after - before) / before));
  }
  return text + "\n";
}

}  // namespace

std::string render_diff_ddp(const Diff& diff) {
  std::string text = header_of(diff);
  for (const DiffGroup& group : group_rows(diff)) {
    text += fmt::format("Benchmark: {} with batch size {}\n\n{:10}",
                        group.model,
                        group.batch_size,
                        "");
    for (std::size_t i = 0; i < kDiffPercentiles.size(); ++i) {
      text += fmt::format("{:>16}{:>10}{:>10}", "sec/iter", "ex/sec", "diff");
    }
    text += "\n";
    for (const DiffRow* row : group.rows) {
      text += is_without_ddp(row->configuration()) ? "" : row_of(*row);
    }
    text += "\n";
  }
  return text;
}

}  // namespace paceline::report
