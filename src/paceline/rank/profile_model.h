// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/cluster/profile_file.h"
#include "paceline/records/configuration.h"

namespace paceline::rank {

/// Measures the configuration's network on this machine, one rank without communication: per module
/// and parameter the median over `c.steps` steps after `c.warmup` ones, the bytes that every
/// module's forward leaves for backward, the update's time, and the process's peak memory.  One
/// micro-batch of the whole batch.  Throws UsageError for a network, device or precision that
/// cannot be.
cluster::ProfiledModel profile_model(const records::Configuration& c);

}  // namespace paceline::rank
