// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/wheel.h"

#include "paceline/base/file.h"
#include "paceline/base/python_package.h"
#include "paceline/base/text.h"
#include "paceline/rank/version.h"

namespace paceline::rank {
namespace {

/// Returns the text in a line `name = 'text'` of version.py.
std::string assigned_text(const std::string& python, const std::string& name) {
  for (const std::string& line : split_lines(python)) {
    if (!line.starts_with(name + " =") && !line.starts_with(name + ":")) {
      continue;
    }
    const std::size_t begin = line.find_first_of("'\"");
    const std::size_t end = line.find_last_of("'\"");
    if (begin < end && end != std::string::npos) {
      return line.substr(begin + 1, end - begin - 1);
    }
  }
  return "";
}

}  // namespace

TorchWheelVersions wheel() {
  TorchWheelVersions wheel{.built_version = kTorchVersion,
                           .built_git = kTorchGit,
                           .built_cuda = kTorchCuda,
                           .folder = loaded_torch()};
  if (!wheel.folder.empty()) {
    const std::string python = read_text_if_readable(wheel.folder + "/version.py").value_or("");
    wheel.version = assigned_text(python, "__version__");
    wheel.git = assigned_text(python, "git_version");
  }
  return wheel;
}

}  // namespace paceline::rank
