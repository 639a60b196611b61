// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/case/case.h"

namespace paceline::rank {

/// Two measured steps of a command's two ranks, after one of warmup.
inline cases::Case command_of_two_ranks() {
  cases::Case c;
  c.command = "train";
  c.ranks = 2;
  c.batch_size = 8;
  c.warmup = 1;
  c.steps = 2;
  return c;
}

}  // namespace paceline::rank
