// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/error_bar.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/cluster/collective_model.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/predict_request.h"
#include "paceline/predict/request_profile.h"
#include "paceline/predict/shipped_data.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValidatedRange, device, least_bytes_per_s, most_bytes_per_s,
                                   most_ranks, engine, optimizers, messages, fitted_messages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FamilyErrors, family, strategies, mean_percent, p90_percent,
                                   cells, how, pair_p90_percent, pairs, pairs_of_bucket_sizes,
                                   range)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ErrorTable, source, level, families)

const ErrorTable& error_table() {
  static const auto table = nlohmann::json::parse(shipped::kErrorTable).get<ErrorTable>();
  return table;
}

const FamilyErrors* family_of(const strategies::StrategySpec& strategy) {
  const auto& families = error_table().families;
  const auto found = std::ranges::find_if(families, [&](const FamilyErrors& family) {
    return std::ranges::any_of(family.strategies,
                               [&](const std::string& parts) { return strategy.has(parts); });
  });
  return found == families.end() ? nullptr : &*found;
}

const FamilyErrors& largest_errors() {
  return *std::ranges::max_element(error_table().families, {}, &FamilyErrors::p90_percent);
}

namespace {

constexpr double kGiga = 1e9;

/// Returns how the link between hosts, by the cluster file alone, differs from the validated range,
/// as text; empty if it does not.
std::string network_difference_text(const FamilyErrors& family, const cluster::LinkModel& network) {
  const ValidatedRange& range = family.range;
  const auto rate = static_cast<double>(network.bytes_per_s);
  if (rate < range.least_bytes_per_s || rate > range.most_bytes_per_s) {
    return fmt::format("family {} on {} behind {:.3g} GB/s", family.family, range.device,
                       rate / kGiga);
  }
  constexpr plan::Picoseconds kMostLatency = 100'000'000;
  if (network.latency > kMostLatency) {
    return fmt::format("networks of {:.0f} us a hop", plan::seconds_of(network.latency) * 1e6);
  }
  return network.full_duplex ? "" : "half-duplex networks";
}

/// Returns what in the request differs from the validated range; empty if nothing does.
std::string unvalidated_reason(const FamilyErrors& family, const PredictRequest& request,
                               const cluster::Machine& machine) {
  const ValidatedRange& range = family.range;
  const std::string& device = request.cluster.device.name;
  if (device != range.device) {
    return device.empty() ? "devices without a name"
                          : fmt::format("family {} on {}", family.family, device);
  }
  const bool crosses = cluster::ranks_per_host(request.cluster, request.ranks).size() > 1;
  if (!crosses) {
    return "ranks on one host";
  }
  if (request.noise.any()) {
    return "noise";
  }
  if (request.costs) {
    return "engine costs of one's own";
  }
  const std::string engine = engine_of(request.engine, request.cluster);
  if (!request.samples_per_s &&
      is_of_another_device(request.profile_device, request.cluster,
                           request.cost_table().engine(engine).fit_engine_name())) {
    return fmt::format("layers timed on {}", request.profile_device);
  }
  std::string why = network_difference_text(
      family,
      cluster::machine_of(request.cluster, engine_costs_named(range.engine).fit_engine_name())
          .network);
  if (!why.empty()) {
    return why;
  }
  if (engine != range.engine) {
    return fmt::format("family {} with engine {}", family.family, engine);
  }
  if (std::ranges::find(range.optimizers, request.optimizer) == range.optimizers.end()) {
    return fmt::format("family {} with optimizer {}", family.family, request.optimizer);
  }
  if (machine.algorithm == cluster::Algorithm::kMeasured) {
    return "a cluster's own fits";
  }
  if (machine.algorithm != engine_costs_named(engine).algorithm) {
    return fmt::format("--algorithm {}", cluster::name_of(machine.algorithm));
  }
  if (request.ranks > range.most_ranks) {
    return fmt::format("more than {} ranks", range.most_ranks);
  }
  const cluster::LinkFit* fit = cluster::message_fit(true, machine);
  const bool as_published =
      range.fitted_messages ? fit != nullptr && fit->engine == range.engine : fit == nullptr;
  return !range.messages || as_published ? ""
         : fit != nullptr                ? "a cluster's own fits of messages"
                                         : "messages without fits";
}

}  // namespace

ErrorBar error_bar_of(const PredictRequest& request, const cluster::Machine& machine) {
  if (request.machine) {
    return {};
  }
  if (!has_measured_times(request)) {
    return {.why = "layer times are a device's data sheet, not measured"};
  }
  if (request.tables) {
    return {.why = "the one published table with embedding rows is predicted far too fast"};
  }
  const FamilyErrors* family = family_of(strategies::strategy_of(request));
  const std::string why =
      family == nullptr ? "such strategies" : unvalidated_reason(*family, request, machine);
  const bool validated = family != nullptr && why.empty();
  const FamilyErrors* of = validated ? family : &largest_errors();
  return {.share = of->p90_percent / 100, .validated = validated, .of = of, .why = why};
}

std::optional<double> least_distinguishable_share(const ErrorBar& one, const ErrorBar& other) {
  const bool compared = one.validated && other.validated && one.of != nullptr &&
                        one.of == other.of && one.of->pairs > 0;
  return compared ? std::optional(one.of->pair_p90_percent / 100) : std::nullopt;
}

std::optional<double> least_distinguishable_share_of_sizes(const ErrorBar& bar) {
  if (bar.known() && bar.of == nullptr) {
    return std::nullopt;
  }
  if (bar.validated && bar.of->pairs_of_bucket_sizes) {
    return least_distinguishable_share(bar, bar);
  }
  double largest = 0;
  for (const FamilyErrors& family : error_table().families) {
    if (family.pairs_of_bucket_sizes) {
      largest = std::max(largest, family.pair_p90_percent);
    }
  }
  return largest / 100;
}

std::optional<records::ErrorBar> error_bar_record(const ErrorBar& bar, std::int64_t step_ns) {
  if (!bar.known() && bar.why.empty()) {
    return std::nullopt;
  }
  records::ErrorBar out{.share = bar.share, .validated = bar.validated};
  out.why = bar.why;
  if (bar.known()) {
    const auto times = [step_ns](double factor) {
      return std::llround(static_cast<double>(step_ns) * factor);
    };
    out.low_ns = times(std::max(0.0, 1 - *bar.share));
    out.high_ns = times(1 + *bar.share);
  }
  if (bar.of != nullptr) {
    out.level = error_table().level;
    out.of = bar.of->family;
    out.how = bar.of->how;
    out.cells = bar.of->cells;
  }
  return out;
}

}  // namespace paceline::predict
