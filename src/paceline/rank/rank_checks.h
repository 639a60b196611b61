// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "paceline/launch/key_value_store.h"
#include "paceline/rank/case_run.h"
#include "paceline/rank/rank_group.h"
#include "paceline/rank/trainer.h"

// Checks of a case after its measured steps.  All ranks must call these functions, in the same
// order.

namespace paceline::rank {

/// Returns whether the engine sums integers exactly, and whether all ranks hold equal parameters.
/// Empty if the strategy does not promise equal parameters.
std::map<std::string, bool> verify(Trainer& trainer, const RankGroup& group,
                                   launch::PrefixStore& store);

/// Records, by number of missed steps, how many averages missed updates of the newest steps.  If
/// ranks may hold different parameters, also records the consensus distance.
void note_averages(Trainer& trainer, const RankGroup& group, RankResult& result);

}  // namespace paceline::rank
