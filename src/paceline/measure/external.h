// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "paceline/engines/run_rank.h"
#include "paceline/experiment/settings.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/measure/case_run.h"

namespace paceline::measure {

/// Whether the case is performed by a command outside Paceline.
bool is_external(const records::Configuration& configuration);

/// Runs this rank's share of an external case: starts the adapter with the
/// case in its environment and reads its JSON lines (docs/adapters.md).
/// Throws WorldError with the adapter's own message when it fails, and after
/// too long a silence (the same page).
RankResult run_external(const engines::RankContext& context,
                        const records::Configuration& configuration,
                        launch::PrefixStore& store,
                        const experiment::Settings& settings,
                        const std::function<void(int, int)>& progress);

}  // namespace paceline::measure
