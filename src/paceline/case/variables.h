// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace paceline::cases {

/// Variables of an environment.
using Variables = std::map<std::string, std::string>;

/// Variables as one text, and back; an empty text for none.  Reading also takes NAME=VALUE, one
/// variable.  Throws UsageError for any other text, and for what is no name of a variable or
/// belongs to Paceline and the launchers.
std::string variables_text(const Variables& variables);
Variables variables_from(const std::string& text, const std::string& where);

}  // namespace paceline::cases
