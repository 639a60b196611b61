// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/records/configuration.h"

namespace paceline::records {

/// Sets what the flags of `command` say, the line "paceline run --model mlp
/// ..." that the head of a log of ours has (experiment/command.h).  Its other
/// keys stay as they are.  Throws `UsageError` that begins with `where` for a
/// flag that is none of a case, and for a value that is none of its flag.
void read_command(std::string_view command,
                  const std::string& where,
                  Configuration& configuration);

}  // namespace paceline::records
