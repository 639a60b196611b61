// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/records/configuration.h"

namespace paceline::experiment {

/// The flags of `paceline run` that measure this case again, "--ranks=4";
/// those whose value is the default are left out, except for what a reader looks for first and what
/// depends on the machine.
std::vector<std::string> flags_of(const records::Configuration& configuration);

/// The command with these flags, quoted for a shell.
std::string command_of(const records::Configuration& configuration);

/// The command that runs the experiment of the configuration's network with tables; flags of what
/// the experiment says itself, `usual`, are left out, but for the engine.
std::string table_command_of(const records::Configuration& configuration,
                             const records::Configuration& usual);

}  // namespace paceline::experiment
