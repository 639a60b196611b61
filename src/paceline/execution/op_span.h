// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// What an op did, for the trace and for deadlines.
struct OpSpan {
  enum class Kind : std::uint8_t { kWork, kWait };
  plan::OpRef ref;
  Kind kind = Kind::kWork;    // kWait: the training thread stood before it
  std::int64_t start_ns = 0;  // issued
  std::int64_t end_ns = 0;
};

}  // namespace paceline::execution
