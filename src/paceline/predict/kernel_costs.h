// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/cluster/machine.h"
#include "paceline/plan/plan_input.h"
#include "paceline/predict/predict_request.h"

// Computes the costs of a request's kernels: those of the optimizer, and all others.

namespace paceline::predict {

/// Returns the costs of the update's kernels, which include the optimizer's step count, and then
/// those of all other kernels.
std::vector<cluster::KernelCost> kernel_costs_of(const PredictRequest& request,
                                                 const plan::PlanInput& input);

/// Returns whether `request.codecs` has times of the strategy's codec.
bool has_coding_times(const PredictRequest& request);

/// Returns the bytes that one rank's update reads and writes in a step.
double update_bytes(const plan::PlanInput& input);

/// Returns the seconds of one device's step that the update takes: the time of its bytes at the
/// memory's rate, and with `unfused` also the launches.
double update_seconds(const PredictRequest& request, const cluster::SoftwareCosts& software,
                      const plan::PlanInput& input);

}  // namespace paceline::predict
