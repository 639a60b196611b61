// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/examined.h"

#include <algorithm>
#include <array>

#include "paceline/base/error.h"

namespace paceline::sim {
namespace {

/// Written by `paceline validate --protocols --earned`; a nightly test writes
/// it anew and compares.
constexpr std::array<Examined, 5> kExamined{{
#include "paceline/sim/examined.inc"
}};

const Examined* named(std::string_view family) {
  const auto* found = std::ranges::find(kExamined, family, &Examined::family);
  PACELINE_CHECK(found != kExamined.end());
  return found;
}

}  // namespace

std::span<const Examined> examined() {
  return kExamined;
}

const Examined* family_of(const plan::StrategySpec& strategy) {
  if (strategy.whole.row != nullptr) {
    return strategy.whole.row->name == "ddp" ? named("reducer") : nullptr;
  }
  const std::string_view exchange = strategy.exchange.row->name;
  if (strategy.codec.row->name != "identity" || exchange == "hierarchical") {
    return nullptr;
  }
  if (strategy.exchange.row->parameters) {
    return named("neighbors");
  }
  if (exchange == "ps") {  // servers beside the workers were not published
    return strategy.exchange.options.text("placement") == "apart"
               ? named("servers")
               : nullptr;
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

}  // namespace paceline::sim
