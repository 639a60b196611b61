// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/outputs.h"

#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"

namespace paceline {

namespace fs = std::filesystem;

namespace {

void check_apart(const std::vector<Output>& outputs) {
  std::map<fs::path, std::string_view> taken;
  for (const auto& [flag, path] : outputs) {
    std::error_code error;
    if (path.empty() || fs::is_other(path, error)) {
      continue;
    }
    const auto [other, is_new] =
        taken.emplace(fs::weakly_canonical(fs::absolute(path), error), flag);
    if (!is_new) {
      throw UsageError(fmt::format(
          "{} {}: is the file of {} too", flag, path, other->second));
    }
  }
}

}  // namespace

void check_outputs(const std::vector<Output>& outputs,
                   const std::vector<Output>& inputs) {
  check_apart(outputs);
  for (const Output& output : outputs) {
    for (const Output& input : inputs) {
      if (!output.path.empty()) {
        check_apart({input, output});
      }
    }
  }
  for (const auto& [flag, path] : outputs) {
    if (!path.empty()) {
      check_writable(flag, path);
    }
  }
}

}  // namespace paceline
