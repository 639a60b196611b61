// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/records/configuration.h"

namespace paceline::report {

/// The command that measures this case again, quoted for a shell; flags whose
/// value is the default are left out, except for those that depend on the
/// machine.
std::string command_of(const records::Configuration& configuration);

/// The command that runs the experiment of the configuration's network with
/// tables; flags of what the experiment says itself, `usual`, are left out, but
/// for the engine.
std::string table_command_of(const records::Configuration& configuration,
                             const records::Configuration& usual);

}  // namespace paceline::report
