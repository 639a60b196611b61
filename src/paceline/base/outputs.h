// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// A file that a command is to write; no path: it is not asked for.
struct Output {
  std::string_view flag;
  std::string path;
};

/// Throws UsageError where two outputs are one file, of which the later one
/// would be kept, and where one is a file that is read, or cannot be written.
/// Devices and pipes may be shared.
void check_outputs(const std::vector<Output>& outputs,
                   const std::vector<Output>& inputs = {});

}  // namespace paceline
