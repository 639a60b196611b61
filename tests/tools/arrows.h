// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace paceline::tools {

/// Which rooms a room may look into, by room.
using Arrows = std::map<std::string, std::set<std::string>>;

/// What docs/architecture.md says: the rows of its tables that start with a
/// room.  `torch_free` gets the rooms of the tables above "The torch half".
Arrows documented_arrows(std::istream& page, std::set<std::string>* torch_free);

/// What CMake was told: lines "room: its DEPS".
Arrows declared_arrows(std::istream& rooms);

/// The room, what it may look into, and what those may look into.
std::set<std::string> reachable(const Arrows& arrows, const std::string& room);

/// A sentence "file:line: #include ..., reason" for each include of `source`
/// that leaves `allowed`.
std::vector<std::string> offending_includes(
    const std::string& file,
    std::istream& source,
    const std::set<std::string>& allowed,
    bool may_see_torch);

}  // namespace paceline::tools
