// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/ddp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/records/samples.h"
#include "paceline/report/cases.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using nlohmann::ordered_json;
using records::RunRecord;

constexpr std::array kPercentiles{50, 75, 90, 95};

// The record whose environment stands in the header: the first that did not
// fail.
const RunRecord* header_record(std::span<const RunRecord> records) {
  const auto good =
      std::find_if(records.begin(), records.end(), [](const RunRecord& r) {
        return !r.error.has_value();
      });
  if (good != records.end()) {
    return &*good;
  }
  return records.empty() ? nullptr : &records.front();
}

std::string render_banner(const RunRecord& record) {
  const records::Environment& environment = record.environment;
  const std::string& cuda = environment.cuda_version;
  const std::string topology =
      environment.hosts.empty() ? "" : environment.hosts.front().topology;
  const std::string rule(35, '-');
  return fmt::format(
      "{0}\nPyTorch distributed benchmark suite\n{0}\n\n"
      "* PyTorch version: {1}\n* CUDA version: {2}\n"
      "* Distributed backend: {3}\n* Maximum bucket size: {4}MB\n\n"
      "--- nvidia-smi topo -m ---\n\n{5}\n{6}\n\n",
      rule,
      environment.torch_version,
      cuda.empty() ? "None" : cuda,
      record.configuration.engine,
      record.configuration.bucket_mb,
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

// The original pads "no ddp" with two blanks and "1M/1G" with three, whatever
// the digits; names that it does not have are set flush with them.
std::string padded_label(const records::Configuration& configuration) {
  const std::string& label = configuration.label.empty()
                                 ? configuration.strategy
                                 : configuration.label;
  const bool machines = label.find("M/") != std::string::npos;
  return machines ? "   " + label : fmt::format("{:>8}", label);
}

// Examples per second as the original prints them: cut, not rounded.
std::int64_t truncated_rate(int batch_size, double seconds) {
  return seconds > 0 ? static_cast<std::int64_t>(batch_size / seconds) : 0;
}

std::string render_row(const Case& one) {
  std::vector<double> seconds = pooled_over_runs(one);
  if (seconds.empty()) {
    return "";
  }
  std::sort(seconds.begin(), seconds.end());
  std::string text =
      fmt::format("{:>8}:",
                  fmt::format("{:>4} GPUs -- {}",
                              one.configuration().ranks,
                              padded_label(one.configuration())));
  for (const int p : kPercentiles) {
    const double value = stats::quantile_sorted(seconds, p / 100.0);
    text += fmt::format("  p{:02}:  {:.3f}s  {:>6}/s",
                        p,
                        value,
                        truncated_rate(one.configuration().batch_size, value));
  }
  return text + "\n";
}

ordered_json result_of(const Case& one) {
  ordered_json ranks = ordered_json::array();
  for (const records::RankSamples& rank : one.measured().front()->ranks) {
    ranks.push_back(rank.rank);
  }
  return {{"ranks", ranks}, {"measurements", pooled_over_runs(one)}};
}

ordered_json results_of(CaseGroup group) {
  std::erase_if(group.rows,
                [](const Case& one) { return one.measured().empty(); });
  const auto place = [](const Case& one) {
    return std::pair(one.configuration().ranks,
                     !is_without_ddp(one.configuration()));
  };
  std::stable_sort(
      group.rows.begin(), group.rows.end(), [&](const Case& a, const Case& b) {
        return place(a) < place(b);
      });
  ordered_json results = ordered_json::array();
  if (group.rows.empty() ||
      !is_without_ddp(group.rows.front().configuration())) {
    results.push_back(
        {{"ranks", {0}}, {"measurements", ordered_json::array()}});
  }
  for (const Case& one : group.rows) {
    results.push_back(result_of(one));
  }
  return results;
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
  return c.ranks == 1 && c.strategy == "none";
}

std::string render_ddp(std::span<const RunRecord> records) {
  const RunRecord* first = header_record(records);
  if (first == nullptr) {
    return "";
  }
  std::string text = render_banner(*first);
  for (const CaseGroup& group : group_tables(records)) {
    text += render_header(group);
    for (const Case& one : group.rows) {
      text += render_row(one);
    }
  }
  return text;
}

ordered_json ddp_json(std::span<const RunRecord> records) {
  ordered_json report;
  const RunRecord* first = header_record(records);
  if (first == nullptr) {
    return report;
  }
  const std::string& cuda = first->environment.cuda_version;
  report["pytorch_version"] = first->environment.torch_version;
  report["cuda_version"] = cuda.empty() ? ordered_json() : ordered_json(cuda);
  report["distributed_backend"] = first->configuration.engine;
  report["bucket_size"] = std::llround(first->configuration.bucket_mb);
  report["benchmark_results"] = ordered_json::array();
  for (const CaseGroup& group : group_tables(records)) {
    report["benchmark_results"].push_back({{"model", group.model},
                                           {"batch_size", group.batch_size},
                                           {"result", results_of(group)}});
  }
  return report;
}

std::string render_ddp_json(std::span<const RunRecord> records) {
  return ddp_json(records).dump(
      -1, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace paceline::report
