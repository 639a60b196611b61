// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/case.h"

namespace paceline::cases {

/// The flags of `paceline run` that measure this case again, "--ranks=4";
/// those whose value is the default are left out, except for what a reader looks for first and what
/// depends on the machine.
std::vector<std::string> flags_of(const Case& configuration);

/// The command with these flags, quoted for a shell.
std::string command_of(const Case& configuration);

}  // namespace paceline::cases
