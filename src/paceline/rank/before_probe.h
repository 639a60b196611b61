// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/records/configuration.h"

// What is known of a case before its network is probed.

namespace paceline::rank {

/// Bytes that a rank of the case takes at least: parameters, gradients, state of the optimizer, and
/// what convolutions keep for backward, by the network's shape.  0 where the shape is not known:
/// networks that are not built in, embedding tables, replays, GPUs, programs of others.
std::int64_t least_memory_of(const records::Configuration& configuration);

/// Seconds in which the ranks of one host with `cores` draw the start values of the embedding
/// tables' rows, from a short sample; 0 without tables.
double draw_seconds(const records::Configuration& configuration, int cores);

}  // namespace paceline::rank
