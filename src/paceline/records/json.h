// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/case/json.h"
#include "paceline/records/run_record.h"

namespace paceline::records {

/// The JSON type of records, whose objects keep the order of their keys.
using Json = nlohmann::ordered_json;

/// Returns the JSON form of a record (`docs/record.schema.json`).  Keys have the order of the
/// structures and contain the units.  What is not known is null, never 0; only keys that older
/// records lack may be absent (fields.h).
Json to_json(const RunRecord& record);

// The JSON forms of parts of a record.
using cases::to_json;
Json to_json(const Environment& environment);
Json to_json(const std::vector<Warning>& warnings);

/// Reads the record that `to_json` wrote, equal in every field.  Throws `UsageError` that names the
/// key and what was expected there: for a version newer than `RunRecord::kVersion`, a missing or
/// unknown key, a value of another type or out of range, and ranks that disagree on the number of
/// steps.
RunRecord from_json(const nlohmann::json& json);

/// Returns one line of a record file, without the line break.  The replacement character stands for
/// bytes that are not UTF-8 (in a host's name, a topology).
std::string to_line(const Json& json);
std::string to_line(const RunRecord& record);

/// Reads one line.  Also throws `UsageError` for text that is not JSON.
RunRecord from_line(std::string_view line);

/// Returns the word for `source` in records and tables: measured, predicted, ...
std::string_view name_of(Source source);

}  // namespace paceline::records
