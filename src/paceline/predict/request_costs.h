// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/cluster/collective_model.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/predict_request.h"
#include "paceline/records/run_record.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// What a request is priced with, all but its layer times: its own machine and software, or the
/// cluster's links as the engine's collectives find them and what the engine's software costs.
/// Warns where the figures were measured with another engine, device or scale.
simulator::Costs costs_of(const PredictRequest& request, const EngineCosts& software,
                          const plan::PlanInput& input, std::vector<records::Warning>& warnings);

/// The cluster's links as the engine's collectives find them.
cluster::Machine machine_for(const cluster::Cluster& cluster, const EngineCosts& engine);

/// Leaves of the costs what the lines and the devices take.
void strip_software(const PredictRequest& request, simulator::Costs& costs);

/// What planners know of the machine's communication: one line per operation through its times at 0
/// bytes and at 64 MiB.  The start-up is that of a collective which starts while its ranks compute.
plan::AlphaBeta alpha_beta_of(const cluster::Machine& machine,
                              const cluster::SoftwareCosts& software, const cluster::Group& group);

}  // namespace paceline::predict
