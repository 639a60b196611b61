// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/examined.h"

#include <algorithm>
#include <array>

#include "paceline/base/error.h"

namespace paceline::predict {
namespace {

/// Written by `paceline validate --protocols --earned`; a nightly test writes
/// it anew and compares.
constexpr std::array<Examined, 5> kExamined{{
#include "paceline/predict/examined.inc"
}};

const Examined* named(std::string_view family) {
  const auto* found = std::ranges::find(kExamined, family, &Examined::family);
  PACELINE_CHECK(found != kExamined.end());
  return found;
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

std::span<const Examined> examined() {
  return kExamined;
}

const Examined* family_of(const strategies::StrategySpec& strategy) {
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

const Examined& least_certain() {
  return *std::ranges::max_element(kExamined, {}, &Examined::p90_percent);
}

}  // namespace paceline::predict
