// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/profile.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// A profile whose ops a slow host launches, and what is left of the device's
/// work in it.
struct LaunchedProfile {
  plan::LayerProfile profile;
  double busy = 1;  // share of the time in which the device computes
};

/// What a device takes whose host needs `per_call` for each call of a module
/// without children in either pass: the host runs ahead, a module starts on the
/// device when the host has launched it and the one before it has ended.
///
///   per_module  = per_call * calls / modules
///   launched[i] = (i + 1) * per_module
///   end[i]      = max(launched[i], end[i-1]) + time[i]
///
/// A step begins with nothing launched, as behind a device synchronization.  A
/// module's backward counts to the first of its gradients, as the roofline has
/// it; the others' times are kept.  Of a network that does not say how often it
/// calls modules without parameters, the others count.
LaunchedProfile with_launch_overhead(const plan::NetworkShape& network,
                                     plan::LayerProfile profile,
                                     plan::Picoseconds per_call);

/// What a call takes on the slowest of `ranks`, who sets the pace, where it
/// takes `per_call` in the mean and `spread` of that is the standard deviation
/// between ranks (normal; more than 64 ranks count as 64).
double slowest_call(double per_call, double spread, plan::Rank ranks);

/// Puts such a host into the costs of a job of `ranks`: the layers take what it
/// makes of them, and the bus is not slowed while the device waits for it.
void add_launch_overhead(const plan::NetworkShape& network,
                         double seconds_per_call,
                         double spread,
                         plan::Rank ranks,
                         simulator::Costs& costs);

/// The rate of a card whose host spends `seconds_per_byte` of its own on every
/// byte, which the card does not hide.
std::int64_t slowed_rate(std::int64_t bytes_per_s, double seconds_per_byte);

}  // namespace paceline::predict
