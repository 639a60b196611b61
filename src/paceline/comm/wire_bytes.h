// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/comm_plan.h"

namespace paceline::comm {

/// Bytes that one of `world` ranks sends for a collective over `payload`
/// bytes (the longer of its two sides), by the closed forms of ring
/// algorithms: all-reduce 2(P-1)/P S, reduce-scatter and all-gather (P-1)/P S,
/// broadcast S; nothing in a world of one.  Rounded down.
constexpr std::int64_t wire_bytes(plan::Pattern pattern,
                                  std::int64_t payload,
                                  std::int64_t world) {
  if (world <= 1) {
    return 0;
  }
  switch (pattern) {
    case plan::Pattern::kAllReduce:
      return 2 * (world - 1) * payload / world;
    case plan::Pattern::kReduceScatter:
    case plan::Pattern::kAllGather:
      return (world - 1) * payload / world;
    case plan::Pattern::kBroadcast:
      return payload;
  }
  return 0;
}

}  // namespace paceline::comm
