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

/// Returns all costs of a request except its layer times: its own machine, or else the cluster's
/// links at the rates that the engine's collectives achieve, and the costs of the engine's
/// software.  Warns if the costs were measured with another engine, device or scale.
simulator::Costs costs_of(const PredictRequest& request, const EngineCosts& software,
                          const plan::PlanInput& input, std::vector<records::Warning>& warnings);

/// Returns the cluster's links at the rates that the engine's collectives achieve.
cluster::Machine machine_for(const cluster::Cluster& cluster, const EngineCosts& engine);

/// Removes software costs, so that only times of links and devices remain.
void remove_software_costs(const PredictRequest& request, simulator::Costs& costs);

/// Returns the communication times for planners: for each operation a line through its times at 0
/// bytes and at 64 MiB.  The start-up is that of a collective that starts while its ranks compute.
plan::AlphaBeta alpha_beta_of(const cluster::Machine& machine,
                              const cluster::SoftwareCosts& software, const cluster::Group& group);

}  // namespace paceline::predict
