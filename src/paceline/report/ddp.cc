// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/ddp.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "paceline/records/samples.h"
#include "paceline/report/cases.h"
#include "paceline/report/ddp_tables.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::RunRecord;

constexpr std::array kPercentiles{50, 75, 90, 95};

// A program outside need not say it.
std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string render_banner(const RunRecord& record, double bucket_mb) {
  const records::Environment& environment = record.environment;
  const std::string& cuda = environment.cuda_version;
  const std::string topology =
      environment.hosts.empty() ? "" : environment.hosts.front().topology;
  const std::string rule(35, '-');
  return fmt::format(
      "{0}\nPyTorch distributed benchmark suite\n{0}\n\n"
      "* PyTorch version: {1}\n* CUDA version: {2}\n"
      "* Distributed backend: {3}\n* Maximum bucket size: {4}\n\n"
      "--- nvidia-smi topo -m ---\n\n{5}\n{6}\n\n",
      rule,
      or_dash(environment.torch_version),
      cuda.empty() ? "None" : cuda,
      or_dash(record.configuration.engine),
      record.configuration.command.empty() ? fmt::format("{}MB", bucket_mb)
                                           : "-",
      topology,
      std::string(26, '-'));
}

std::string render_header(const CaseGroup& group) {
  std::string text = fmt::format("\nBenchmark: {} with batch size {}\n\n{:22}",
                                 group.model,
                                 group.batch_size,
                                 "");
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    text += fmt::format("{:>14}{:>10}", "sec/iter", "ex/sec");
  }
  return text + "\n";
}

// Examples per second as the original prints them: cut, not rounded.
std::int64_t truncated_rate(int batch_size, double seconds) {
  return seconds > 0 ? static_cast<std::int64_t>(batch_size / seconds) : 0;
}

std::string render_row(const Case& one, const std::string& suffix) {
  std::vector<double> seconds = pooled_over_runs(one);
  if (seconds.empty()) {
    return "";
  }
  std::sort(seconds.begin(), seconds.end());
  std::string text = fmt::format("{:>8}:",
                                 fmt::format("{:>4} GPUs -- {}{}",
                                             one.configuration().ranks,
                                             padded_label(one.configuration()),
                                             suffix));
  for (const int p : kPercentiles) {
    const double value = stats::quantile_sorted(seconds, p / 100.0);
    text += fmt::format("  p{:02}:  {:.3f}s  {:>6}/s",
                        p,
                        value,
                        truncated_rate(one.configuration().batch_size, value));
  }
  return text + "\n";
}

}  // namespace

std::vector<double> pooled_over_runs(const Case& one) {
  std::vector<double> seconds;
  for (const RunRecord* run : one.measured()) {
    const std::vector<double> more = pooled_step_s(*run);
    seconds.insert(seconds.end(), more.begin(), more.end());
  }
  return seconds;
}

bool is_without_ddp(const records::Configuration& c) {
  return c.states("ranks") && c.ranks == 1 && c.strategy == "none";
}

std::string render_ddp(std::span<const RunRecord> records) {
  const std::vector<DdpTable> tables = ddp_tables(records);
  std::string text;
  const DdpTable* before = nullptr;
  for (const DdpTable& table : tables) {
    if (before == nullptr || before->call != table.call) {
      text += before == nullptr ? "" : "\n";
      text += render_banner(header_record(tables, table.call),
                            table.call.bucket_mb);
    }
    text += render_header(table.group);
    for (std::size_t i = 0; i < table.suffixes.size(); ++i) {
      text += render_row(table.group.rows[i], table.suffixes[i]);
    }
    before = &table;
  }
  return text;
}

}  // namespace paceline::report
