// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

class Options;  // strategies/strategy.h

/// The largest `every=`.
inline constexpr Step kLongestInterval = 500;

/// The option `every` of a rule: from 1 to kLongestInterval.  Throws UsageError
/// that names `rule`.
Step interval_of(const Options& options, std::string_view rule);

/// Whether step `step` ends an interval of `every` steps: the last of them
/// does.
constexpr bool ends_interval(Step step, Step every) {
  return (step + 1) % every == 0;
}

}  // namespace paceline::strategies
