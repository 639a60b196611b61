// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/case/case.h"

namespace paceline::cases {

/// Which numbers of steps somebody has chosen.
struct GivenSteps {
  bool warmup = false;
  bool measured = false;
};

/// Rounds the warm-up and the measured steps that nobody has chosen up to whole periods of the
/// case: its strategy, and its averages of statistics.  A window of fewer steps may lack an
/// exchange that comes every H-th step, or hold one too many.
void take_whole_periods(Case& configuration, const GivenSteps& given);

}  // namespace paceline::cases
