// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// The path of the running program.
std::filesystem::path program_path();

/// Folders in which a `kind` ("experiments") may lie: the one that the program was started in, and
/// the nearest folder above the program that has one: the source tree, or the installed package.
std::vector<std::string> roots_of(std::string_view kind);

/// ROOT/KIND/NAME.toml below one of the roots; empty where there is none.
std::string find_in(const std::vector<std::string>& roots, std::string_view kind,
                    const std::string& name);

/// The names of all files ROOT/KIND/*.toml, sorted.
std::vector<std::string> names_in(const std::vector<std::string>& roots, std::string_view kind);

}  // namespace paceline
