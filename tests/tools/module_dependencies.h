// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace paceline::tools {

/// Which modules a module may include, by module.
using Dependencies = std::map<std::string, std::set<std::string>>;

/// What docs/architecture.md says: the rows of its tables that start with a module.  `torch_free`
/// gets the modules of the tables above "The torch half".
Dependencies documented_dependencies(std::istream& page, std::set<std::string>* torch_free);

/// What CMake was told: lines "module: its DEPS".
Dependencies declared_dependencies(std::istream& modules);

/// The module, what it may include, and what those may include.
std::set<std::string> reachable(const Dependencies& dependencies, const std::string& module);

/// A sentence "file:line: #include ..., reason" for each include of `source` that leaves `allowed`.
std::vector<std::string> offending_includes(const std::string& file, std::istream& source,
                                            const std::set<std::string>& allowed,
                                            bool may_see_torch);

}  // namespace paceline::tools
