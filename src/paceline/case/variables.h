// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace paceline::cases {

/// Environment variables, by name.
using Variables = std::map<std::string, std::string>;

/// These functions convert variables to a JSON text and back; an empty text stands for no
/// variables. Reading also takes a single NAME=VALUE. Throws UsageError for any other text, and for
/// a NAME that is no valid name or that Paceline and the launchers set themselves.
std::string variables_text(const Variables& variables);
Variables variables_from(const std::string& text, const std::string& where);

}  // namespace paceline::cases
