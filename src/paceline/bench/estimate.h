// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/bench/bulletin.h"
#include "paceline/bench/session.h"

namespace paceline::bench {

/// Estimates time and memory of the cases from one probe step of each network
/// on rank 0, prints the estimate on stderr, and agrees with all ranks on
/// whether to go on: not above 30 minutes without `options.yes`, and not with
/// less memory than the largest case needs (UsageError on every rank).
/// `cores` are those that all ranks of this host may use.  Collective over the
/// world.
bool confirm_estimate(comm::World& world,
                      Bulletin& bulletin,
                      const std::vector<record::Configuration>& cases,
                      const SessionOptions& options,
                      int cores);

}  // namespace paceline::bench
