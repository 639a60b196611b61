// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/record_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::cli {

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

void refuse_repeats(const std::vector<std::string>& files) {
  for (auto file = files.begin(); file != files.end(); ++file) {
    const auto again =
        std::find_if(files.begin(), file, [&](const std::string& one) {
          return is_same_file(one, *file);
        });
    if (again != file) {
      throw UsageError(
          fmt::format("{}: given twice; its runs would count twice", *file));
    }
  }
}

}  // namespace paceline::cli
