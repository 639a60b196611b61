// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/record/run_record.h"
#include "paceline/sim/engines.h"
#include "paceline/sim/predict_request.h"
#include "paceline/sim/simulate.h"

namespace paceline::sim {

/// What a request is priced with, all but its layer times: its own machine and
/// software, or the cluster's links as the engine's collectives find them and
/// what the engine's software costs.  Warns where the figures were measured
/// with another engine, device or scale.
Costs costs_of(const PredictRequest& request,
               const EngineCosts& software,
               const plan::PlanInput& input,
               std::vector<record::Warning>& warnings);

}  // namespace paceline::sim
