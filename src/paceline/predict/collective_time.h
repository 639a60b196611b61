// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/cluster/machine.h"
#include "paceline/predict/engines.h"

// Functions for times of collectives that run alone on a machine.

namespace paceline::predict {

/// Returns the seconds of a collective that runs alone on the machine, software costs included.
double collective_s(const cluster::CollectiveCall& call, const cluster::Machine& machine,
                    const cluster::SoftwareCosts& software);

/// Returns a lower bound on the seconds of the collective: the time at the link rates alone, for
/// the engine whose algorithm moves the fewest bytes.
double least_possible_s(const cluster::CollectiveCall& call, const cluster::Cluster& cluster);

/// Returns the calibration of the link that the model uses for the group's collectives of this
/// pattern.  Null if the link has no calibration with this engine, or if no time of the pattern was
/// measured.
const cluster::LinkCalibration* calibration_of(const cluster::CollectiveCall& call,
                                               const cluster::Cluster& cluster,
                                               const EngineCosts& engine);

/// Returns the error of a collective's time under `model`, the engine's own model: the absolute
/// logarithm of the modelled over the real time that nine of ten collectives do not exceed.  It is
///
///   error^2 = base^2 + size^2 d(size) + ranks^2 d(ranks)
///
/// base   the error within which nine of ten measured times lie, by Student's t of the fit's
///        residuals; without a calibration that of published times (data/nccl_tuning.toml)
/// d      the number of doublings or halvings beyond what was measured or published: of the ranks,
///        and of the modelled time between this size and the nearest one, since sizes that are
///        nearly all latency take the same time
/// size   the published error for each doubling of the time
/// ranks  the calibration's error for each doubling of the ranks, else the published one
///
/// The errors of doublings are independent, so their squares are added.  Beyond the measured range,
/// returns nothing for engines whose model was not compared with published times.
std::optional<double> error_of_collective(const cluster::CollectiveCall& call,
                                          const cluster::Cluster& cluster,
                                          const EngineCosts& engine, const cluster::Machine& model);

}  // namespace paceline::predict
