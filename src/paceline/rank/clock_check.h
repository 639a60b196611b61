// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/rank/stated_times.h"
#include "paceline/records/configuration.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Holds what a program said of its steps against the clock (Note [Times and the clock]). Throws
/// OutsideFailure for a contradiction, with what would fit; returns a remark where its times leave
/// a part of the loop out, or are printed with too few digits.
std::optional<records::Warning> hold_against_clock(const records::Configuration& c,
                                                   const StatedTimes& times);

}  // namespace paceline::rank
