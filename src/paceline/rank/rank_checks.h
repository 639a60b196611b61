// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "paceline/launch/key_value_store.h"
#include "paceline/rank/case_run.h"
#include "paceline/rank/rank_group.h"
#include "paceline/rank/trainer.h"

// What the ranks of a case find out together when its window has ended: all of them call these
// functions, in the same order.

namespace paceline::rank {

/// Whether the engine sums integers exactly, and whether all ranks hold equal parameters; empty
/// where the strategy does not promise it.
std::map<std::string, bool> verify(Trainer& trainer, const RankGroup& group,
                                   launch::PrefixStore& store);

/// Records how many steps' updates the averages missed, and, where ranks may hold different
/// parameters, the consensus distance.
void note_averages(Trainer& trainer, const RankGroup& group, RankResult& result);

}  // namespace paceline::rank
