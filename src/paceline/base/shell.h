// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// Quotes `text` as one word of a POSIX shell.
std::string shell_word(const std::string& text);

/// Returns `argv` as a command of a POSIX shell.
std::string shell_command(const std::vector<std::string>& argv);

/// Splits a command that shell_command() wrote into its words.
std::vector<std::string> shell_words(std::string_view command);

}  // namespace paceline
