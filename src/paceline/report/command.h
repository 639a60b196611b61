// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/records/configuration.h"

namespace paceline::report {

/// The command that measures this case again, quoted for a shell; flags whose
/// value is the default are left out, except for those that depend on the
/// machine.
std::string command_of(const records::Configuration& configuration);

/// The command that runs experiments/hybrid.toml with the model, strategy and
/// tables of the configuration; flags of what the file says itself are left
/// out.
std::string hybrid_command_of(const records::Configuration& configuration);

}  // namespace paceline::report
