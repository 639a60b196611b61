// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/case/case.h"
#include "paceline/case/raw_settings.h"

// What follows from `replay`, whose ranks sleep through the layers of a profile.

namespace paceline::cases {

/// Throws UsageError where the block of an experiment that has a replay asks for a GPU, or for an
/// engine that moves no bytes of the CPU, by name.
void check_replay(const RawValues& block);

/// The profile's network, batch and element type take the place of those that were named; device
/// and engine are those of ranks that sleep.
void take_network_of_profile(Case& configuration);

}  // namespace paceline::cases
