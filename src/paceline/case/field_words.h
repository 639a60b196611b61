// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "paceline/plan/engine_traits.h"

// The allowed words of keys that have a fixed set of values.

namespace paceline::cases {

inline constexpr auto kProtocols = std::to_array<std::string_view>({"cases", "ddp", "dlperf"});
inline constexpr auto kDevices = std::to_array<std::string_view>({"auto", "cpu", "cuda"});
inline constexpr auto kEngines = [] {
  std::array<std::string_view, plan::kEngines.size() + 1> names{"auto"};
  std::ranges::transform(plan::kEngines, names.begin() + 1, &plan::EngineTraits::name);
  return names;
}();
inline constexpr auto kDtypes = std::to_array<std::string_view>({"fp32", "bf16", "amp"});
inline constexpr auto kPlacements =
    std::to_array<std::string_view>({"table", "row-hash", "row-range", "replicated"});
inline constexpr auto kPoolings = std::to_array<std::string_view>({"sum", "mean"});
inline constexpr auto kRowOptimizers =
    std::to_array<std::string_view>({"sgd", "adagrad", "rowwise-adagrad"});
inline constexpr auto kRowDtypes = std::to_array<std::string_view>({"fp32", "bf16"});
inline constexpr auto kLaunchers = std::to_array<std::string_view>({"slurm", "mpirun", "torchrun"});
inline constexpr auto kStarts = std::to_array<std::string_view>({"random", "formula"});
inline constexpr auto kStarters = std::to_array<std::string_view>({"command", "ranks"});
inline constexpr auto kReaders =
    std::to_array<std::string_view>({"megatron", "torchtitan", "hf-trainer"});
inline constexpr auto kStepUnits =
    std::to_array<std::string_view>({"s", "ms", "us", "ns", "steps/s", "samples/s", "tokens/s"});
inline constexpr auto kRateScopes = std::to_array<std::string_view>({"device", "node", "global"});

inline constexpr std::string_view kRankWords =
    "world (all ranks that were started together, else 1), max (one for each core or GPU), auto "
    "(1, 2, 4, ... max), max:8, auto:8 (at most 8), dlperf (1, all of a host, of 2 and of 4 hosts)";

}  // namespace paceline::cases
