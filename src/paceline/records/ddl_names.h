// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

// Words in the names that ddl-benchmarks gives its log files, and ours.

namespace paceline::records {

using DdlName = std::pair<std::string_view, std::string_view>;

inline constexpr auto kDdlMethods = std::to_array<DdlName>({
    {"bspa2a", "bsp"},
    {"wfbp", "wfbp"},
    {"mgwfbp", "mg-wfbp"},
    {"bytescheduler", "bytescheduler"},
    {"bspps", "bsp+ps"},
    {"wfbpps", "wfbp+ps"},
    {"byteschedulerps", "bytescheduler+ps"},
});
// Its compressors, which stand for its methods too, on BSP.
inline constexpr auto kDdlCompressors = std::to_array<DdlName>({
    {"signum", "sign"},
    {"efsignum", "ef-sign"},
    {"eftopk", "topk:density=0.001"},
    {"topk", "topk:density=0.001"},
});
// Its `rdma` numbers.
inline constexpr auto kDdlNetworks = std::to_array<DdlName>({
    {"0", "10GbE"},
    {"1", "IB"},
    {"2", "IPoIB"},
});
inline constexpr auto kDdlModels = std::to_array<DdlName>({
    {"bert", "bert-large"},
    {"bert_base", "bert-base"},
});

/// Our word for `theirs`; `theirs` where the table has none.
template <class Table>
std::string our_name(const Table& table, std::string_view theirs) {
  for (const auto& [name, own] : table) {
    if (name == theirs) {
      return std::string(own);
    }
  }
  return std::string(theirs);
}

/// Their first word for `ours`; empty where the table has none.
template <class Table>
std::string their_name(const Table& table, std::string_view ours) {
  for (const auto& [name, own] : table) {
    if (own == ours) {
      return std::string(name);
    }
  }
  return "";
}

}  // namespace paceline::records
