// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

/// Bytes that one of `world` ranks sends for a collective over `payload` bytes (the longer of its
/// two sides): all-reduce 2(P-1)/P S, reduce-scatter and all-gather (P-1)/P S, broadcast S; nothing
/// in a world of one.  Rounded down to whole bytes where P does not divide.
///
/// Plans are priced and engines book with this one function, so a ledger
/// equals a plan's cost exactly.
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

/// all-reduce, reduce-scatter, all-gather, broadcast
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

/// What messages are booked under, beside the patterns' names.
inline constexpr std::string_view kMessages = "message";

inline constexpr std::array kPatterns{Pattern::kAllReduce, Pattern::kReduceScatter,
                                      Pattern::kAllGather, Pattern::kBroadcast};

/// All that is measured and fitted, in the order of reports.
inline constexpr std::array kOperations{
    name_of(Pattern::kAllReduce), name_of(Pattern::kReduceScatter), name_of(Pattern::kAllGather),
    name_of(Pattern::kBroadcast), kMessages};

}  // namespace paceline::plan
