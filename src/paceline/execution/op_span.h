// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// When an op ran, or when the training thread waited for it; shown in the trace.
struct OpSpan {
  enum class Kind : std::uint8_t { kWork, kWait };
  plan::OpRef ref;
  Kind kind = Kind::kWork;    // kWait: the training thread waited for the op
  std::int64_t start_ns = 0;  // when the op was issued, or the wait began
  std::int64_t end_ns = 0;
};

}  // namespace paceline::execution
