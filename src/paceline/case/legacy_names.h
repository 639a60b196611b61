// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline::cases {

/// Returns "unknown key 'modle'; did you mean model? known: ..." for a name in a file that is no
/// key. With `with_tables`, for the top level of a file, the names of the tables case and sweep are
/// suggested too.
std::string unknown_key_message(const std::string& name, bool with_tables);

/// Returns "unknown flag '--modle'; did you mean '--model'? paceline run --help lists all" for a
/// flag that is not in `known`, the flags of the command `paceline COMMAND`. If the flag belongs to
/// `paceline run` only, the message says so. For a flag of another benchmark it names the flag that
/// is used here.
std::string unknown_flag_message(const std::string& flag, std::string_view command,
                                 const std::vector<std::string>& known);

}  // namespace paceline::cases
