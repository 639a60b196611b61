// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace paceline::cases {

/// Environment variables, by name.
using Variables = std::map<std::string, std::string>;

/// The variables as a JSON text; empty if there are none.
std::string variables_text(const Variables& variables);

/// Parses one NAME=VALUE; an empty text has no variable. Throws UsageError for any other text, and
/// for a NAME that is no valid name or that Paceline and the launchers set themselves.
Variables variables_from(const std::string& text, const std::string& where);

}  // namespace paceline::cases
