// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/profile.h"

namespace paceline::sim {

/// A profile whose ops a slow host launches, and what is left of the device's
/// work in it.
struct Hosted {
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
Hosted hosted(const plan::NetworkShape& network,
              plan::LayerProfile profile,
              plan::Picoseconds per_call);

}  // namespace paceline::sim
