// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/comm_plan.h"

namespace paceline::engines {

/// When a collective was called and when it completed, by the monotonic clock.
struct CollectiveSpan {
  plan::Pattern pattern = plan::Pattern::kAllReduce;
  std::int64_t payload_bytes = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

}  // namespace paceline::engines
