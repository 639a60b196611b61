// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "paceline/report/cases.h"
#include "paceline/report/formats.h"
#include "paceline/stats/mean.h"

namespace paceline::report {
namespace {

using records::RunRecord;

constexpr std::ptrdiff_t kBatchesPerIteration = 10;

/// Examples per second of a rank, one value for every ten of its steps.
std::vector<double> rates_of(const records::RankSamples& rank, int batch_size) {
  std::vector<double> rates;
  for (auto it = rank.step_ns.begin(); rank.step_ns.end() - it >= kBatchesPerIteration;
       it += kBatchesPerIteration) {
    const auto ns = std::accumulate(it, it + kBatchesPerIteration, std::int64_t{0});
    rates.push_back(static_cast<double>(batch_size) * kBatchesPerIteration /
                    (static_cast<double>(ns) * 1e-9));
  }
  return rates;
}

std::string rate_text(const std::vector<double>& rates) {
  return fmt::format("{:.1f} +-{:.1f}", stats::mean(rates), stats::spread(rates));
}

std::string run_text(const RunRecord& run) {
  const records::Configuration& c = run.configuration;
  std::vector<std::vector<double>> rates;
  std::vector<double> sums;
  for (const records::RankSamples& rank : run.ranks) {
    rates.push_back(rates_of(rank, c.batch_size));
    sums.resize(std::max(sums.size(), rates.back().size()), 0.0);
    for (std::size_t i = 0; i < rates.back().size(); ++i) {
      sums[i] += rates.back()[i];
    }
  }
  if (sums.empty() || rates.front().size() != sums.size()) {
    return fmt::format("# no iteration: {} steps make one, and the case has {}\n",
                       kBatchesPerIteration, c.steps);
  }
  const char* const device = c.device == "cpu" ? "CPU" : "GPU";
  std::string text = fmt::format(
      "Model: {}\nBatch size: {}\nNumber of {}s: {}\nRunning warmup...\n"
      "Running benchmark...\n",
      c.model, c.batch_size, device, c.ranks);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    text += fmt::format("Iter #{}: {:.1f} img/sec per {}\n", i, rates.front()[i], device);
  }
  for (std::size_t r = 0; r < rates.size(); ++r) {
    if (!rates[r].empty()) {
      text +=
          fmt::format("[{}] Img/sec per {}: {}\n", run.ranks[r].rank, device, rate_text(rates[r]));
    }
  }
  text += fmt::format("Total img/sec on {} {}(s): {}\n", c.ranks, device, rate_text(sums));
  if (sums.size() == 1) {
    text += "# one iteration has no spread: +-0.0 says nothing\n";
  }
  if (const auto left = c.steps % kBatchesPerIteration; left > 0) {
    text += fmt::format("# the last {} of {} steps are in no iteration of {}\n", left, c.steps,
                        kBatchesPerIteration);
  }
  return text;
}

}  // namespace

std::string render_bluefog(std::span<const RunRecord> records) {
  return foreign_log(records, run_text);
}

}  // namespace paceline::report
