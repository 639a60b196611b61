// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "paceline/base/json_place.h"
#include "paceline/case/field.h"

namespace paceline::cases {

nlohmann::ordered_json json_of(const Value& value);

/// The JSON form of a case, as records contain it.
nlohmann::ordered_json to_json(const Case& c);

/// Reads the JSON form of a case. For the output of to_json() the result is equal to the original.
/// Throws UsageError that names the wrong key and what was expected there.
Case from_json(const JsonNode& place);

}  // namespace paceline::cases
