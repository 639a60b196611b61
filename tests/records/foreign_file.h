// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <stdlib.h>

#include "paceline/base/error.h"
#include "paceline/records/readers.h"

namespace paceline::records {

/// What the readers make of a file of another program that has this name and text.
inline std::vector<RunRecord> read_as(const std::string& name, const std::string& text) {
  std::string folder = std::filesystem::temp_directory_path() / "foreign-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    throw WorldError("no folder for " + name);
  }
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::ofstream(path, std::ios::binary) << text;
  std::vector<RunRecord> runs = read_foreign({path}).runs;
  std::filesystem::remove_all(folder);
  return runs;
}

}  // namespace paceline::records
