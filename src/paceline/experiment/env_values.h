// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/experiment/raw_settings.h"

namespace paceline::experiment {

/// Raw values of environment variables have this before the variable's name;
/// a file writes env.NAME = "value", under [sweep] a list.
inline constexpr std::string_view kEnvPrefix = "env.";

bool is_env_name(std::string_view name);

/// Variables as one text, and back; an empty text for none.  Reading also takes
/// NAME=VALUE, one variable.  Throws UsageError for any other text, and for
/// what is no name of a variable or belongs to Paceline and the launchers.
std::string env_text(const std::map<std::string, std::string>& variables);
std::map<std::string, std::string> env_from(const std::string& text,
                                            const std::string& where);

/// The raw values of flags --env NAME=VALUE,VALUE ..., by name with prefix.
RawValues env_of_flags(const std::vector<std::string>& texts);

}  // namespace paceline::experiment
