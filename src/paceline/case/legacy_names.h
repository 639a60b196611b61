// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline::cases {

/// "unknown key 'modle'; did you mean model? known: ..." for a name in a file that no key has.  The
/// top of a file knows the tables too.
std::string unknown_key(const std::string& name, bool with_tables);

/// "unknown flag '--modle'; did you mean '--model'? paceline run --help lists all" for a flag that
/// is none of `known`, those of the command `paceline COMMAND`; a flag of `paceline run` alone is
/// called that.  For a flag of another benchmark it says what to type here.
std::string unknown_flag(const std::string& flag, std::string_view command,
                         const std::vector<std::string>& known);

}  // namespace paceline::cases
