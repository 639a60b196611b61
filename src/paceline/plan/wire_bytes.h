// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

/// Returns the bytes that each of `world` = P ranks sends for a collective with a payload of S
/// bytes (the longer of its two sides): all-reduce 2(P-1)/P S, reduce-scatter and all-gather
/// (P-1)/P S, broadcast S; 0 in a world of one rank. Fractions of a byte are dropped.
///
/// The costs of plans and the ledgers of engines use this same function, so a ledger equals a
/// plan's cost exactly.
constexpr std::int64_t wire_bytes(Pattern pattern, std::int64_t payload, std::int64_t world) {
  if (world <= 1) {
    return 0;
  }
  switch (pattern) {
    case Pattern::kAllReduce:
      return 2 * (world - 1) * payload / world;
    case Pattern::kReduceScatter:
    case Pattern::kAllGather:
      return (world - 1) * payload / world;
    case Pattern::kBroadcast:
      return payload;
  }
  return 0;
}

/// The name of a pattern: all-reduce, reduce-scatter, all-gather or broadcast.
constexpr std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kAllReduce:
      return "all-reduce";
    case Pattern::kReduceScatter:
      return "reduce-scatter";
    case Pattern::kAllGather:
      return "all-gather";
    case Pattern::kBroadcast:
      return "broadcast";
  }
  return "";
}

/// The name of messages in costs and reports, where collectives have the names of their patterns.
inline constexpr std::string_view kMessageOperation = "message";

inline constexpr std::array kPatterns{Pattern::kAllReduce, Pattern::kReduceScatter,
                                      Pattern::kAllGather, Pattern::kBroadcast};

/// The names of all operations that are measured and fitted, in the order of reports.
inline constexpr std::array kOperations{
    name_of(Pattern::kAllReduce), name_of(Pattern::kReduceScatter), name_of(Pattern::kAllGather),
    name_of(Pattern::kBroadcast), kMessageOperation};

}  // namespace paceline::plan
