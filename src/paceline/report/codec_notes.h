// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/summary.h"

namespace paceline::report {

/// A sentence for each case that has a codec: its coding time, what it saves,
/// its break-even bandwidth (docs/strategies.md), and the last loss beside that
/// of the same case without a codec, where both are known.
std::vector<std::string> codec_notes(const std::vector<CaseSummary>& cases);

}  // namespace paceline::report
