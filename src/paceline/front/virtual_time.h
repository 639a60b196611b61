// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "paceline/case/experiment.h"
#include "paceline/case/settings.h"
#include "paceline/records/run_record.h"

namespace paceline::front {

/// Prepares a run in virtual time (`settings.virtual_time`, a cluster file): gives each case the
/// placement that its ranks have on the cluster's hosts, so that the plan that runs here is the one
/// that is priced.  Throws UsageError, one sentence, for settings that name hosts to start on, and
/// for a case that trains on no data, that has a placement already, that the cluster has no slots
/// for, that predictions do not know (micro-batches, another number type, averaged statistics), or
/// whose mathematics depend on how fast the ranks are. Where no virtual time was asked for, throws
/// UsageError for a
/// `settings.device_rate` and otherwise does nothing.
void place_virtually(const cases::Settings& settings, cases::Experiment& experiment);

/// Predictions of the cases of `measured` on that cluster, one for each network, data, batch, world
/// and strategy.  Layer times are of this machine, where nothing else of the job may run now,
/// stretched to
/// `settings.device_rate` where that is given.
std::vector<records::RunRecord> virtual_times(const cases::Settings& settings,
                                              std::span<const records::RunRecord> measured);

/// Whether `recorded` has a prediction of the same case on a cluster of the same name.
bool is_recorded(const records::RunRecord& priced, std::span<const records::RunRecord> recorded);

}  // namespace paceline::front
