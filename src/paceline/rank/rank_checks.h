// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "paceline/launch/key_value_store.h"
#include "paceline/rank/case_run.h"
#include "paceline/rank/rank_group.h"
#include "paceline/rank/trainer.h"

// Checks that the ranks of a case make together when its window has ended.  All ranks must call
// these functions, in the same order.

namespace paceline::rank {

/// Returns whether the engine sums integers exactly, and whether all ranks hold equal parameters.
/// Empty if the strategy does not promise equal parameters.
std::map<std::string, bool> verify(Trainer& trainer, const RankGroup& group,
                                   launch::PrefixStore& store);

/// Records how many steps' updates the averages missed.  If ranks may hold different parameters,
/// also records the consensus distance.
void note_averages(Trainer& trainer, const RankGroup& group, RankResult& result);

}  // namespace paceline::rank
