// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/case/case.h"

namespace paceline::cases {

/// Multiplies the learning rate at some steps.
struct RateDecay {
  double factor = 1;
  std::vector<std::int64_t> steps;  // ascending
};

/// Reads "0.1@200+300"; an empty text decays nothing.  Throws UsageError with
/// `where`, the text and what is wanted.
RateDecay parse_rate_decay(const std::string& where, const std::string& text);

/// The learning rate of a step, the first being 0: it grows in a line over the steps of lr_warmup,
/// and falls by the factor of lr_decay at each of its steps.
double learning_rate_at(const Case& c, std::int64_t step);

}  // namespace paceline::cases
