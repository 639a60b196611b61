// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// Returns the path of the running program.
std::filesystem::path program_path();

/// Returns folders that may contain a folder `kind` ("experiments"): the working directory, and the
/// nearest folder above the program that has one, which is the source tree or the installed
/// package.
std::vector<std::string> root_folders_with(std::string_view kind);

/// Returns the path ROOT/KIND/NAME.toml in the first root that has this file; empty if none has.
std::string find_toml_file(const std::vector<std::string>& roots, std::string_view kind,
                           const std::string& name);

/// Returns the names of all files ROOT/KIND/*.toml, sorted.
std::vector<std::string> toml_names_in(const std::vector<std::string>& roots,
                                       std::string_view kind);

}  // namespace paceline
