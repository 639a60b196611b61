// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/record/trace.h"
#include "paceline/train/trainer.h"

namespace paceline::bench {

/// What the trainer recorded since the last call, as spans of `rank` with
/// `origin_ns` taken off every time.
std::vector<record::Span> spans_of(train::Trainer& trainer,
                                   int rank,
                                   std::int64_t origin_ns);

/// For the way from a rank to rank 0.
std::string to_text(const std::vector<record::Span>& spans);
std::vector<record::Span> spans_from(const std::string& text);

}  // namespace paceline::bench
