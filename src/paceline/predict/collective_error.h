// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/predict/engines.h"

namespace paceline::predict {

/// The calibration of the link that the group's collectives of the pattern are priced by, or
/// nullptr: without one of the engine, and where no time of the pattern was measured.
const cluster::LinkCalibration* calibration_of(const cluster::CollectiveCall& call,
                                               const cluster::Cluster& cluster,
                                               const EngineCosts& engine);

/// How far the time of `model`, which prices by the engine's own model, may be off to either side:
/// nine of ten logarithms are within
///
///   reach^2 = own^2 + size^2 d(size) + ranks^2 d(ranks)
///
/// own    what nine of ten measured times are off, by Student's t of the fit's residuals; without a
///        calibration what nine of ten published times are off (data/nccl_tuning.toml)
/// d      doublings or halvings beyond what was measured or published: of the ranks, and of the
///        modelled time between the asked size and the nearest one, since sizes that are nearly all
///        latency take the same time
/// size   the published error
/// ranks  what the calibration says of each doubling, else the published error
///
/// Each doubling errs by itself, so that squares are added.  Nothing for engines whose model no
/// published time has been compared with, beyond what was measured.
std::optional<double> error_of_collective(const cluster::CollectiveCall& call,
                                          const cluster::Cluster& cluster,
                                          const EngineCosts& engine, const cluster::Machine& model);

}  // namespace paceline::predict
