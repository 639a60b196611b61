// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/advise.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/strategy.h"

namespace paceline::sim {
namespace {

bool has_buckets(const plan::RowInfo& row) {
  return std::ranges::any_of(row.options, [](const plan::OptionInfo& option) {
    return option.fallback == "--bucket-mb";
  });
}

/// Canonical texts, each once, in the order of the tables.
std::vector<std::string> candidates(const AdviseRequest& request,
                                    std::size_t hosts) {
  std::vector<std::string> all;
  const auto add = [&](const plan::RowInfo& row, const std::string& rest) {
    const std::vector<double> one{25};
    for (const double mebibytes : has_buckets(row) ? request.bucket_mb : one) {
      const std::string text =
          plan::parse_strategy(std::string(row.name) + rest,
                               {.bucket_mb = mebibytes})
              .text();
      if (std::ranges::find(all, text) == all.end()) {
        all.push_back(text);
      }
    }
  };
  for (const auto& row : plan::schedules()) {
    add(row, "");
  }
  for (const auto& row : plan::whole_strategies()) {
    if (row.make != nullptr && row.guarantee == plan::Guarantee::kExact) {
      add(row, "");
    }
  }
  if (hosts > 1) {
    for (const auto& row : plan::schedules()) {
      try {
        add(row, "+hierarchical");
      } catch (const UsageError&) {
        // A combination that the table forbids is no candidate.
      }
    }
  }
  return all;
}

Picoseconds scaled(Picoseconds time, double factor) {
  return std::llround(static_cast<double>(time) * factor);
}

}  // namespace

AdviceTable advise(const AdviseRequest& request) {
  if (!(request.error >= 0 && request.error < 1)) {
    throw UsageError(fmt::format(
        "an error of {} of the step: must be at least 0 and below 1",
        request.error));
  }
  const auto hosts =
      plan::ranks_per_host(request.job.cluster, request.job.ranks);
  AdviceTable table;
  for (const std::string& strategy : candidates(request, hosts.size())) {
    PredictRequest job = request.job;
    job.strategy = strategy;
    try {
      const Prediction prediction = predict(job);
      const Picoseconds step = prediction.times.step;
      table.rows.push_back({.configuration = prediction.record.configuration,
                            .step = step,
                            .exposed = prediction.exposed(),
                            .low = scaled(step, 1 - request.error),
                            .high = scaled(step, 1 + request.error)});
    } catch (const UsageError& error) {
      table.unfit.push_back({strategy, error.what()});
    }
  }
  if (table.rows.empty()) {
    throw UsageError(table.unfit.empty() ? "no strategy to compare"
                                         : table.unfit.front().why);
  }
  std::ranges::stable_sort(table.rows, {}, &Advice::step);
  for (Advice& row : table.rows) {
    row.like_best = row.low <= table.rows.front().high;
  }
  return table;
}

}  // namespace paceline::sim
