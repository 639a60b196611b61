// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/case/case.h"

// Estimates about a case that need no probe of its network.

namespace paceline::rank {

/// Returns the least bytes that a rank of the case takes, by the network's shape: parameters,
/// gradients, optimizer state, and what convolutions keep for backward.  Returns 0 if the shape is
/// not known: networks that are not built in, embedding tables, replays, GPUs, external programs.
std::int64_t least_memory_of(const cases::Case& configuration);

/// Returns the seconds that the ranks of one host with `cores` cores take to draw the start values
/// of the embedding tables' rows.  Extrapolates from a short sample; 0 without tables.
double draw_seconds(const cases::Case& configuration, int cores);

}  // namespace paceline::rank
