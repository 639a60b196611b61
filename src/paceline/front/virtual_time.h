// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "paceline/case/experiment.h"
#include "paceline/case/settings.h"
#include "paceline/records/run_record.h"

namespace paceline::front {

/// Prepares a run in virtual time (`settings.virtual_time`, a cluster file): gives each case the
/// numbers of ranks per host that it has on the cluster, so that the plan that runs here is the one
/// that is predicted.  Moves a case to `experiment.rejected`, with one sentence, if it trains on no
/// data, already has numbers of ranks per host, finds too few slots on the cluster, cannot be
/// predicted (micro-batches, another number type, averaged statistics), or if its mathematics
/// depend on how fast the ranks are.  Throws UsageError if no case is left, and for settings that
/// name hosts to start on.  Without virtual time, throws UsageError for a `settings.device_rate`
/// and otherwise does nothing.
void place_virtually(const cases::Settings& settings, cases::Experiment& experiment);

/// Predicts the cases of `measured` on the cluster `settings.virtual_time`, once for each network,
/// data, batch size, world, strategy and optimizer.  Layer times are measured on this machine,
/// where nothing else of the job may run meanwhile, and scaled to `settings.device_rate` if that is
/// given.
std::vector<records::RunRecord> predict_virtual_times(const cases::Settings& settings,
                                                      std::span<const records::RunRecord> measured);

/// Whether `recorded` already contains a prediction of the case of `priced` on a cluster of the
/// same name.
bool has_recorded_prediction(const records::RunRecord& priced,
                             std::span<const records::RunRecord> recorded);

}  // namespace paceline::front
