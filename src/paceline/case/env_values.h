// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/raw_settings.h"

namespace paceline::cases {

/// Raw values of environment variables have this before the variable's name;
/// a file writes env.NAME = "value", under [sweep] a list.
inline constexpr std::string_view kEnvPrefix = "env.";

bool is_env_name(std::string_view name);

/// The raw values of flags --env NAME=VALUE,VALUE ..., by name with prefix.
RawValues env_of_flags(const std::vector<std::string>& texts);

}  // namespace paceline::cases
