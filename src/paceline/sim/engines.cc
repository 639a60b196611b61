// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/engines.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::sim {
namespace {

constexpr Picoseconds kMicrosecond = 1'000'000;

/// docs/simulator.md says how far each figure is to be trusted.
const std::array<EngineCosts, 4>& table() {
  static const std::array<EngineCosts, 4> rows{{
      {.name = "ideal", .source = "no software at all", .costs = {}},
      {.name = "nccl",
       .source = "fit to the ddl-benchmarks tables: 58 us and 2.3 us per rank",
       .costs = {.collective = 58 * kMicrosecond,
                 .collective_per_rank = 2'300'000}},
      {.name = "gloo",
       .source = "measured on loopback, 2 ranks, 4 bytes: 0.35 ms; several "
                 "collectives run side by side",
       .costs = {.collective = 350 * kMicrosecond,
                 .serial_collectives = false}},
      {.name = "link",
       .source = "`run --link`: the modelled link alone; Gloo's two threads "
                 "carry two operations side by side",
       .costs = {.serial_collectives = false, .side_by_side = 2}},
  }};
  return rows;
}

}  // namespace

std::span<const EngineCosts> engine_costs() {
  return table();
}

const EngineCosts& engine_costs_named(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &EngineCosts::name);
  if (found == table().end()) {
    std::vector<std::string> known;
    for (const EngineCosts& engine : table()) {
      known.emplace_back(engine.name);
    }
    throw UsageError(unknown_name("engine", name, known));
  }
  return *found;
}

}  // namespace paceline::sim
