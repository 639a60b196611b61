// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/cluster/machine.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/profile.h"
#include "paceline/predict/engines.h"
#include "paceline/records/run_record.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// A layer profile whose times include the host's launches.
struct LaunchOverheadProfile {
  plan::LayerProfile profile;
  double busy = 1;  // the share of the time in which the device computes
};

/// Returns the layer times of a device whose host needs `per_call` picoseconds to launch a module
/// without children, in forward and in backward.  The host runs ahead.  A module starts on the
/// device when the host has launched it and the module before it has ended.
///
///   per_module  = per_call * calls / modules
///   launched[i] = (i + 1) * per_module
///   end[i]      = max(launched[i], end[i-1]) + time[i]
///
/// A step begins with nothing launched, as after a device synchronization.  A module's backward is
/// launched with the module's first gradient; the times of its other gradients stay.  A network
/// without `leaf_calls` is taken to have one call per module.
LaunchOverheadProfile with_launch_overhead(const plan::NetworkShape& network,
                                           plan::LayerProfile profile, plan::Picoseconds per_call);

/// Returns the seconds of a call on the slowest of `ranks` ranks.  The mean call time of a rank is
/// normally distributed among ranks with mean `per_call` seconds and standard deviation `spread`
/// times `per_call`.  More than 64 ranks count as 64.
double slowest_call(double per_call, double spread, plan::Rank ranks);

/// Adds the host's launches to the costs of a job of `ranks` ranks: to the layer times, and to the
/// device link's slow-down by compute, which is absent while the device waits.
void add_launch_overhead(const plan::NetworkShape& network, double seconds_per_call, double spread,
                         plan::Rank ranks, simulator::Costs& costs);

/// Warns if the engine is a published program whose updates are launched tensor by tensor after the
/// last collective.
void warn_of_launches(const plan::NetworkShape& network, const EngineCosts& engine,
                      const cluster::SoftwareCosts& software,
                      std::vector<records::Warning>& warnings);

}  // namespace paceline::predict
