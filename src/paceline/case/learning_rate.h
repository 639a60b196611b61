// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/case/case.h"

namespace paceline::cases {

/// A schedule that multiplies the learning rate by `factor` at each of some steps.
struct RateDecay {
  double factor = 1;
  std::vector<std::int64_t> steps;  // ascending
};

/// Parses "0.1@200+300"; an empty text is a schedule without decay. Throws UsageError with `where`,
/// the text and the expected form.
RateDecay parse_rate_decay(const std::string& where, const std::string& text);

/// The learning rate of a step, counted from 0. It grows linearly over the first lr_warmup steps,
/// and is multiplied by the factor of lr_decay at each step that lr_decay names.
double learning_rate_at(const Case& c, std::int64_t step);

}  // namespace paceline::cases
