// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/case.h"

namespace paceline::cases {

/// The flags of `paceline run` that measure this case again, such as "--ranks=4". Flags with
/// default values are left out, except for the most important ones (model, strategy, ...) and those
/// whose defaults depend on the machine.
std::vector<std::string> flags_of(const Case& configuration);

/// The command line `paceline run` with the flags of `flags_of`, quoted for a shell.
std::string command_of(const Case& configuration);

}  // namespace paceline::cases
