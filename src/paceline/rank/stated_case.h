// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "paceline/records/configuration.h"

namespace paceline::rank {

/// Throws OutsideFailure where the event `environment` of a program says another model, batch,
/// number type, optimizer, number of steps or of ranks than the case has: by keys of its own, or in
/// its `case`. What it does not say, and what the case does not know, is not compared.
void check_stated_case(const records::Configuration& c, const nlohmann::json& event);

}  // namespace paceline::rank
