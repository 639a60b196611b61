// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "paceline/base/json_place.h"
#include "paceline/case/field.h"

namespace paceline::cases {

nlohmann::ordered_json json_of(const Value& value);

/// The JSON form of a case, as records contain it.
nlohmann::ordered_json to_json(const Case& c);

/// Reads a case that `to_json` wrote; all fields are equal. Throws UsageError that names the key
/// and what was expected there.
Case from_json(const JsonPlace& place);

}  // namespace paceline::cases
