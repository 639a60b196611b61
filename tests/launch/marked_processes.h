// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

namespace paceline::testing {

/// How many living processes have `assignment` (NAME=value) in the environment that they were
/// started with.  Zombies have none.
inline int marked_processes(const std::string& assignment) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::FILE* file = std::fopen((entry.path() / "environ").c_str(), "rb");
    if (!file) {
      continue;
    }
    std::string text(1 << 17, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    count += text.find(assignment) != std::string::npos ? 1 : 0;
  }
  return count;
}

}  // namespace paceline::testing
