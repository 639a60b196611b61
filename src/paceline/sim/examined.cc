// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/examined.h"

#include <algorithm>
#include <array>

#include "paceline/base/error.h"

namespace paceline::sim {
namespace {

/// `paceline validate --protocols` prints them; tests/validate holds them
/// against the examination.
constexpr std::array<Examined, 5> kExamined{{
    {.family = "merged",
     .error_percent = 2.6,
     .how = "BSP, WFBP and MG-WFBP on a ring, a model left out"},
    {.family = "scheduled",
     .error_percent = 8.8,
     .how = "ByteScheduler on a ring, a series left out"},
    {.family = "servers",
     .error_percent = 4.3,
     .how = "BytePS, a model left out"},
    {.family = "reducer",
     .error_percent = 2.7,
     .how = "PyTorch DDP, several nodes, a model left out"},
    {.family = "neighbors",
     .error_percent = 4.5,
     .how = "BlueFog, several nodes, a method at a batch size left out"},
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
  if (exchange == "ps") {
    return named("servers");
  }
  const std::string_view schedule = strategy.schedule.row->name;
  return named(schedule == "bytescheduler" || schedule == "dear" ? "scheduled"
                                                                 : "merged");
}

double earned_error(const plan::StrategySpec& strategy) {
  const Examined* family = family_of(strategy);
  return (family != nullptr ? family->error_percent
                            : std::ranges::max_element(
                                  kExamined, {}, &Examined::error_percent)
                                  ->error_percent) /
         100;
}

}  // namespace paceline::sim
