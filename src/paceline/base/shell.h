// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline {

/// Quotes `text` as one word of a POSIX shell.
std::string shell_word(const std::string& text);

/// Returns `argv` as a command of a POSIX shell.
std::string shell_command(const std::vector<std::string>& argv);

}  // namespace paceline
