// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/error_table.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/predict/shipped_data.h"

namespace paceline::predict {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValidatedRange,
                                   device,
                                   least_bytes_per_s,
                                   most_bytes_per_s,
                                   most_ranks,
                                   engine,
                                   optimizers,
                                   messages,
                                   message_bytes_per_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FamilyErrors,
                                   family,
                                   mean_percent,
                                   p90_percent,
                                   cells,
                                   how,
                                   pair_p90_percent,
                                   pairs,
                                   pairs_of_bucket_sizes,
                                   range)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ErrorTable, source, level, families)

namespace {

const FamilyErrors* named(std::string_view family) {
  const auto& families = error_table().families;
  const auto found = std::ranges::find(families, family, &FamilyErrors::family);
  PACELINE_CHECK(found != families.end());
  return &*found;
}

/// BlueFog's: every rank with neighbors inside and outside its host, or hosts
/// with one each by a leader; the exchange behind the forward pass.
bool as_bluefog(const strategies::StrategySpec& strategy) {
  const strategies::Options& exchange = strategy.exchange.options;
  const bool flat = strategy.exchange.row->name == "neighbor-allreduce" &&
                    exchange.text("topology") == "inner-outer-exp";
  const bool by_leader =
      strategy.exchange.row->name == "hierarchical-neighbor-allreduce" &&
      exchange.text("topology") == "one-peer-exp" &&
      exchange.text("style") == "leader";
  return (flat || by_leader) && strategy.update.row->name == "awc" &&
         strategy.update.options.text("window") == "backward";
}

/// BytePS's: servers of their own, found by hash, behind a sum on each host.
bool as_byteps(const strategies::Options& exchange) {
  return exchange.text("placement") == "apart" &&
         exchange.text("assign") == "hash" && exchange.text("local") == "0";
}

}  // namespace

const ErrorTable& error_table() {
  static const auto table =
      nlohmann::json::parse(shipped::kErrorTable).get<ErrorTable>();
  return table;
}

const FamilyErrors* family_of(const strategies::StrategySpec& strategy) {
  if (strategy.whole.row != nullptr) {
    return strategy.whole.row->name == "ddp" ? named("reducer") : nullptr;
  }
  const std::string_view exchange = strategy.exchange.row->name;
  if (strategy.codec.row->name != "identity" || exchange == "hierarchical") {
    return nullptr;
  }
  if (strategy.exchange.row->parameters) {
    return as_bluefog(strategy) ? named("neighbors") : nullptr;
  }
  if (exchange == "ps") {
    return as_byteps(strategy.exchange.options) ? named("servers") : nullptr;
  }
  const std::string_view schedule = strategy.schedule.row->name;
  if (exchange != "all-reduce" || schedule == "dear") {
    return nullptr;
  }
  return named(schedule == "bytescheduler" ? "scheduled" : "merged");
}

const FamilyErrors& largest_errors() {
  return *std::ranges::max_element(
      error_table().families, {}, &FamilyErrors::p90_percent);
}

}  // namespace paceline::predict
