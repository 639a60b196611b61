// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <regex>
#include <string>

namespace paceline::rank {

/// The number that the one group of --step-regex matched in `line`: 12, 12,345,
/// 0.5, 1.2e3. Throws OutsideFailure where the group holds no number, or where
/// the match begins or stops inside one, as "12" in "12,345".
double printed_number(const std::smatch& match, const std::string& line);

/// The unit of a rate may turn over on the way, as tqdm prints 1.25s/it where it/s would be below
/// one: the same expression of the other unit; nothing where `pattern`, `of_rate` or of a time in
/// seconds, has no such unit.
std::optional<std::string> turned_over(const std::string& pattern, bool of_rate);

}  // namespace paceline::rank
