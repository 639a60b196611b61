// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/engines.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::predict {
namespace {

constexpr plan::Picoseconds kMicrosecond = 1'000'000;

/// docs/simulator.md says how far each figure is to be trusted.
const std::array<EngineCosts, 7>& table() {
  static const std::array<EngineCosts, 7> rows{{
      {.name = "ideal", .source = "no software at all", .costs = {}},
      {.name = "nccl",
       .source = "the examination's fit to ddl-benchmarks, Horovod on NCCL 2.4 "
                 "with 4 to 32 ranks: 9.447 us per rank, and 0.1908 ms times "
                 "log2 of the ranks while devices compute; its tree",
       .costs = {.collective_per_rank = 9'447'000,
                 .collective_under_compute = 190'800'000},
       .algorithm = cluster::Algorithm::kTree,
       .from_python = true},
      {.name = "bytescheduler",
       .source = "the same fit: ByteScheduler's Python beside every call of a "
                 "module, 0.9284 ms, which differs between ranks by 19.34 %; "
                 "0.09825 ns of a host's time per byte of TCP/IP; Horovod's "
                 "fusion carries the starts of its collectives",
       .costs = {},
       .algorithm = cluster::Algorithm::kTree,
       .module_call = 928'400'000,
       .module_call_spread = 0.1934,
       .tcp_s_per_byte = 0.09825e-9,
       .published = true},
      {.name = "byteps",
       .source =
           "the same fit: sums inside a host at 3.764 of 6.171 GB/s, of "
           "which 0.4987 are left while devices compute; what a worker's host "
           "sends and receives over TCP/IP shares one rate",
       .costs = {},
       .from_python = true,
       .device_share = 3.764 / 6.171,
       .under_compute = 0.4987,
       .published = true,
       .tcp_copies = true},
      {.name = "bluefog",
       .source = "the examination's fit to BlueFog's charts: 292.1 us per rank "
                 "of a collective, 0.5862 ms for a message",
       .costs = {.collective_per_rank = 292'100'000, .message = 586'200'000},
       .from_python = true,
       .published = true},
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

OptimizerCosts optimizer_costs_named(std::string_view name) {
  static constexpr std::array<OptimizerCosts, 2> kRows{
      {{.name = "sgd",
        .source = "one kernel launch from Python a tensor",
        .launch_per_tensor = 20 * kMicrosecond,
        .passes = 1},
       {.name = "adamw",
        .source = "the examination's fit to ddl-benchmarks: PyTorch's unfused "
                  "kernels, 22 passes where the plan's update has 8",
        .launch_per_tensor = 241'400'000,
        .passes = 22.0 / 8}}};
  const auto found = std::ranges::find(kRows, name, &OptimizerCosts::name);
  return found == kRows.end()
             ? OptimizerCosts{.name = name, .source = "", .passes = 1}
             : *found;
}

}  // namespace paceline::predict
