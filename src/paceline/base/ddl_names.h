// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

// The names in the command lines of ddl-benchmarks and BlueFog, and Paceline's names for the same
// things.

namespace paceline {

struct DdlName {
  std::string_view theirs;
  std::string_view ours;
  /// Options that give Paceline's method the default behavior of theirs; empty if it needs none.
  std::string_view options = {};
};

inline constexpr auto kDdlMethods = std::to_array<DdlName>({
    {"bspa2a", "bsp"},
    {"wfbp", "wfbp"},
    {"mgwfbp", "mg-wfbp", ":small-elements=8192"},
    {"bytescheduler", "bytescheduler"},
    {"bspps", "bsp+ps"},
    {"wfbpps", "wfbp+ps"},
    {"byteschedulerps", "bytescheduler+ps"},
});
// The compressors of ddl-benchmarks.  Their names also stand for methods: BSP with this compressor.
inline constexpr auto kDdlCompressors = std::to_array<DdlName>({
    {"signum", "sign"},
    {"efsignum", "ef-sign"},
    {"eftopk", "topk:density=0.001"},
    {"topk", "topk:density=0.001"},
});
inline constexpr auto kDdlModels = std::to_array<DdlName>({
    {"bert", "bert-large"},
    {"bert_base", "bert-base"},
});

// BlueFog's optimizers. window=backward delays the exchange of parameters until forward has ended,
// as BlueFog does.
inline constexpr auto kBluefogOptimizers = std::to_array<DdlName>({
    {"neighbor_allreduce", "neighbor-allreduce", "+awc:window=backward"},
    {"hierarchical_neighbor_allreduce", "hierarchical-neighbor-allreduce", "+awc:window=backward"},
    {"allreduce", "parameter-allreduce", "+awc:window=backward"},
    {"gradient_allreduce", "fusion"},
    {"horovod", "fusion"},
    {"win_put", "win-put:topology=one-peer-exp", "+awc"},
});

/// Returns the row of the table whose foreign name is `theirs`, or null.
template <class Table>
const DdlName* find_ddl_name(const Table& table, std::string_view theirs) {
  for (const DdlName& name : table) {
    if (name.theirs == theirs) {
      return &name;
    }
  }
  return nullptr;
}

}  // namespace paceline
