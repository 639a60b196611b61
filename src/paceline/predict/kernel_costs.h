// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/cluster/machine.h"
#include "paceline/plan/plan_input.h"
#include "paceline/predict/predict_request.h"

// What a request's kernels cost: the optimizer's, and all others.

namespace paceline::predict {

/// First those of the update; the optimizer's count of steps is one of them.
std::vector<cluster::KernelCost> kernels_of(const PredictRequest& request,
                                            const plan::PlanInput& input);

/// Whether `request.codecs` has times of the strategy's codec.
bool has_coding_times(const PredictRequest& request);

/// Bytes that one rank's update reads and writes in a step.
double update_bytes(const plan::PlanInput& input);

/// The part of one device's step that is the update: the time in which its memory carries it, and
/// with `unfused` the launches.
double update_seconds(const PredictRequest& request, const cluster::SoftwareCosts& software,
                      const plan::PlanInput& input);

}  // namespace paceline::predict
