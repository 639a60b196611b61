// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/report/summary.h"

namespace paceline::report {

/// The rate of a link in bits/s at which the case's codec saves as much time as its coding takes;
/// below it the codec pays.  Infinite where coding takes no time; absent without a codec, and where
/// it saves no bytes.
std::optional<double> break_even_bits_per_s(const CaseSummary& one);

/// A sentence for each case that has a codec: its coding time, what it saves, its break-even
/// bandwidth (docs/strategies.md) and whether the case's emulated link is slower; step time and
/// last loss beside those of the same case without a codec, where both are known.
std::vector<std::string> codec_notes(const std::vector<CaseSummary>& cases);

}  // namespace paceline::report
