// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/profile.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// A profile with the host's launches in its times.
struct LaunchedProfile {
  plan::LayerProfile profile;
  double busy = 1;  // share of the time in which the device computes
};

/// The layer times of a device whose host needs `per_call`, in picoseconds, to launch a module
/// without children, in forward and in backward.  The host runs ahead; a module starts on the
/// device when the host has launched it and the module before it has ended.
///
///   per_module  = per_call * calls / modules
///   launched[i] = (i + 1) * per_module
///   end[i]      = max(launched[i], end[i-1]) + time[i]
///
/// A step begins with nothing launched, as after a device synchronization.  A module's backward is
/// launched with its first gradient; the times of its other gradients are kept.  A network without
/// `leaf_calls` has one call a module.
LaunchedProfile with_launch_overhead(const plan::NetworkShape& network, plan::LayerProfile profile,
                                     plan::Picoseconds per_call);

/// Seconds of a call on the slowest of `ranks`.  Calls take `per_call` seconds in the mean,
/// normally distributed among ranks with a standard deviation of
/// `spread` times that; more than 64 ranks count as 64.
double slowest_call(double per_call, double spread, plan::Rank ranks);

/// Adds the host's launches to the costs of a job of `ranks`: to the layer times, and to the bus,
/// which is not slowed while the device waits.
void add_launch_overhead(const plan::NetworkShape& network, double seconds_per_call, double spread,
                         plan::Rank ranks, simulator::Costs& costs);

/// The rate of a card, bytes/s, whose host spends `seconds_per_byte` on every byte while the card
/// waits.
std::int64_t slowed_rate(std::int64_t bytes_per_s, double seconds_per_byte);

}  // namespace paceline::predict
