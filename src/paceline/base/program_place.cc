// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/program_place.h"

#include <set>

namespace paceline {

namespace fs = std::filesystem;

fs::path program_path() {
  std::error_code none;
  return fs::read_symlink("/proc/self/exe", none);
}

std::vector<std::string> root_folders_with(std::string_view kind) {
  std::vector<std::string> roots = {"."};
  std::error_code none;
  // The program is build/release/apps/paceline/paceline or site-packages/paceline/bin/paceline.
  fs::path folder = program_path().parent_path();
  for (int up = 0; up < 5 && folder.has_relative_path(); ++up) {
    if (fs::is_directory(folder / kind, none)) {
      roots.push_back(folder.string());
      break;
    }
    folder = folder.parent_path();
  }
  return roots;
}

std::string find_toml_file(const std::vector<std::string>& roots, std::string_view kind,
                           const std::string& name) {
  std::error_code none;
  for (const std::string& root : roots) {
    const fs::path path = fs::path(root) / kind / (name + ".toml");
    if (fs::is_regular_file(path, none)) {
      return path.lexically_normal().string();
    }
  }
  return "";
}

std::vector<std::string> toml_names_in(const std::vector<std::string>& roots,
                                       std::string_view kind) {
  std::set<std::string> names;
  for (const std::string& root : roots) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(fs::path(root) / kind, none)) {
      if (entry.path().extension() == ".toml") {
        names.insert(entry.path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace paceline
