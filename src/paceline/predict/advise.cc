// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/advise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/simulator/job_cache.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

/// The last topology connects ranks on hosts, and has no variant that connects hosts.
constexpr std::array<std::string_view, 4> kAdvisedTopologies{"one-peer-exp", "exp", "ring",
                                                             "inner-outer-exp"};

bool has_option(const strategies::RowInfo& row, std::string_view key) {
  return std::ranges::any_of(row.options, [key](const auto& option) { return option.key == key; });
}

bool has_buckets(const strategies::RowInfo& row) {
  return std::ranges::any_of(row.options, [](const strategies::OptionInfo& option) {
    return option.fallback == "--bucket-mb";
  });
}

class Candidates {
 public:
  explicit Candidates(const AdviseRequest& request) : request_(request) {}

  /// Adds a schedule, or a complete strategy, once for each bucket or partition size. `rest` is
  /// appended to its text.
  void add(const strategies::RowInfo& row, const std::string& rest) {
    const std::vector<double> one{25};
    for (const double mebibytes : has_buckets(row) ? request_.bucket_mb : one) {
      put(std::string(row.name) + rest, mebibytes);
    }
    if (has_option(row, "partition-mb") && has_option(row, "credit-mb")) {
      for (const double partition : request_.partition_mb) {
        for (const double credit : {partition, 4 * partition}) {
          for (const char* queue : {"tensor", "module"}) {
            put(fmt::format("{}:partition-mb={:g},credit-mb={:g},queue={}{}", row.name, partition,
                            credit, queue, rest),
                one.front());
          }
        }
      }
    }
  }

  /// Adds parameter servers under those schedules for which tables are published.
  void add_servers(const std::string& options) {
    for (const char* schedule : {"bsp", "wfbp", "bytescheduler"}) {
      put(fmt::format("{}+ps{}", schedule, options));
    }
  }

  void add_schedules(const std::string& rest) {
    for (const auto& row : strategies::schedules()) {
      add(row, rest);
    }
  }

  /// Adds a strategy if the strategy tables allow its combination of parts.
  void put(const std::string& text, double bucket_mb = 25) {
    try {
      add_once(all_, strategies::parse_strategy(text, {.bucket_mb = bucket_mb}).text());
    } catch (const UsageError&) {
      return;
    }
  }

  std::vector<std::string> take() { return std::move(all_); }

 private:
  const AdviseRequest& request_;
  std::vector<std::string> all_;
};

}  // namespace

bool has_servers(const std::string& strategy) {
  const strategies::StrategySpec spec = strategies::parse_strategy(strategy);
  return spec.exchange.row != nullptr && has_option(*spec.exchange.row, "servers");
}

std::vector<std::string> candidates(const AdviseRequest& request, std::size_t hosts) {
  Candidates all(request);
  all.add_schedules("");
  for (const auto& row : strategies::whole_strategies()) {
    if (row.make != nullptr && row.guarantee == strategies::Guarantee::kExact) {
      all.add(row, "");
    }
  }
  const bool several = hosts > 1;
  if (several) {
    all.add_schedules("+hierarchical");
  }
  // Servers hold different shards, so no rank can represent another, and the simulation takes long.
  if (request.job.ranks > 1 && request.job.ranks <= kMostServers) {
    all.add_servers("");
    if (several) {
      all.add_servers(":local=0");
    }
  }
  if (!request.includes_inexact_updates) {
    return all.take();
  }
  for (const auto& codec : strategies::codecs()) {
    if (codec.guarantee == strategies::Guarantee::kRounded) {
      all.add_schedules(fmt::format("+{}", codec.name));
    }
  }
  for (const std::string_view topology : kAdvisedTopologies) {
    for (const char* update : {"atc", "awc"}) {
      all.put(fmt::format("fusion+neighbor-allreduce:topology={}+{}", topology, update));
      if (several && topology != kAdvisedTopologies.back()) {
        all.put(
            fmt::format("fusion+hierarchical-neighbor-allreduce:topology={}+{}", topology, update));
      }
    }
  }
  return all.take();
}

namespace {

plan::Picoseconds scaled(plan::Picoseconds time, double factor) {
  return std::llround(static_cast<double>(time) * factor);
}

/// Returns whether the predicted steps of `row` and of `faster`, whose step is not longer, are
/// indistinguishable. `apart` is the smallest distinguishable difference, as a share of the step;
/// if it is empty, the error intervals of the two are compared.
bool is_difference_within_error(const Advice& faster, const Advice& row,
                                const std::optional<double>& apart) {
  return apart ? row.step <= scaled(faster.step, 1 + *apart) : row.low <= faster.high;
}

/// Returns the effect of the bucket size for each strategy with buckets. `rows` must be sorted by
/// step.
std::vector<BucketAdvice> buckets_of(const std::vector<Advice>& rows) {
  std::vector<BucketAdvice> all;
  std::vector<const Advice*> bests;
  for (const Advice& row : rows) {
    const auto strategy = strategies::strategy_of(row.configuration);
    const std::string* text = strategy.find_option("bucket-mb");
    const auto size = text == nullptr ? std::nullopt : number_from<double>(*text);
    if (!size) {
      continue;
    }
    const std::string rest = strategy.text_without({"bucket-mb", "first-bucket-mb"});
    auto found = std::ranges::find(all, rest, &BucketAdvice::strategy);
    if (found == all.end()) {
      found = all.insert(all.end(), BucketAdvice{.strategy = rest, .best = *size, .like = {}});
      bests.push_back(&row);
    }
    const Advice& best = *bests[static_cast<std::size_t>(found - all.begin())];
    const auto apart = best.errors && row.errors
                           ? std::optional(least_distinguishable_share(*best.errors, *row.errors))
                           : least_distinguishable_share_of_sizes(row.bar);
    if (is_difference_within_error(best, row, apart)) {
      found->like.push_back(*size);
    }
    found->worst = *size;
    found->worst_ratio = static_cast<double>(row.step) / static_cast<double>(best.step);
  }
  for (BucketAdvice& it : all) {
    std::ranges::sort(it.like);
  }
  return all;
}

void add_warnings(const std::vector<records::Warning>& warnings, AdviceTable& table) {
  for (const records::Warning& warning : warnings) {
    add_once(table.warnings, warning);
  }
}

void check_request(const AdviseRequest& request) {
  if (request.error && !(*request.error >= 0 && *request.error < 1)) {
    throw UsageError(
        fmt::format("an error of {} of the step: must be at least 0 and below 1", *request.error));
  }
}

}  // namespace

Advice advice_of(const PredictRequest& job, const Prediction& prediction,
                 const AdviseRequest& request) {
  const cases::Case& configuration = prediction.record.configuration;
  const strategies::StrategySpec spec = strategies::strategy_of(configuration);
  const plan::Picoseconds step = prediction.times.step;
  Advice row{.configuration = configuration,
             .step = step,
             .exposed = prediction.exposed(),
             .bar = prediction.bar,
             .guarantee = spec.guarantee()};
  if (request.error) {
    row.bar.share = request.error;
    row.bar.of = nullptr;
  } else if (request.fit) {
    row.errors = request.fit->errors_of(job);
    const double factor = std::exp(row.errors->half_width());
    row.bar = {.share = factor - 1, .validated = true};
    row.low = scaled(step, 1 / factor);
    row.high = scaled(step, factor);
    return row;
  }
  row.low = scaled(step, std::max(0.0, 1 - row.bar.share.value_or(0)));
  row.high = scaled(step, 1 + row.bar.share.value_or(0));
  return row;
}

bool is_indistinguishable(const Advice& faster, const Advice& row) {
  const auto apart = faster.errors && row.errors
                         ? std::optional(least_distinguishable_share(*faster.errors, *row.errors))
                         : least_distinguishable_share(faster.bar, row.bar);
  return faster.bar.known() && row.bar.known() && is_difference_within_error(faster, row, apart);
}

const Advice& AdviceTable::winner() const {
  // If the steps come from measurements of this job, only the error of the strategy differs between
  // rows.
  const auto error = [](const Advice& row) {
    return row.errors ? std::optional(row.errors->strategy) : row.bar.share;
  };
  const Advice* best = nullptr;
  for (const Advice& row : rows) {
    if (row.ties_with_best && row.bar.validated && (best == nullptr || error(row) < error(*best))) {
      best = &row;
    }
  }
  return best != nullptr ? *best : rows.front();
}

std::string_view caution(strategies::Guarantee guarantee) {
  switch (guarantee) {
    case strategies::Guarantee::kRounded:
      return "gradients are rounded on the wire";
    case strategies::Guarantee::kCompressed:
      return "gradients are compressed: convergence changes";
    case strategies::Guarantee::kPeriodic:
    case strategies::Guarantee::kConsensus:
      return "ranks hold different parameters: convergence changes";
    case strategies::Guarantee::kLocal:
      return "ranks drift apart";
    case strategies::Guarantee::kExact:
    case strategies::Guarantee::kNeutral:
      return "";
  }
  return "";
}

AdviceTable advise(const AdviseRequest& request) {
  check_request(request);
  const auto hosts = cluster::ranks_per_host(request.job.cluster, request.job.ranks);
  AdviceTable table;
  for (const std::string& strategy : candidates(request, hosts.size())) {
    simulator::JobCache jobs;
    PredictRequest job = request.job;
    job.strategy = strategy;
    job.steps = 3;  // the fewest allowed; single steps are not shown
    job.jobs = &jobs;
    try {
      const Prediction prediction = predict(job);
      table.rows.push_back(advice_of(job, prediction, request));
      add_warnings(prediction.record.warnings, table);
    } catch (const UsageError& error) {
      table.unfit.push_back({strategy, error.what()});
    }
  }
  if (table.rows.empty()) {
    throw UsageError(table.unfit.empty() ? "no strategy to compare" : table.unfit.front().why);
  }
  std::ranges::stable_sort(table.rows, {}, &Advice::step);
  for (Advice& row : table.rows) {
    row.ties_with_best = is_indistinguishable(table.rows.front(), row);
  }
  table.buckets = buckets_of(table.rows);
  return table;
}

}  // namespace paceline::predict
