// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/wheel.h"

#include <filesystem>

#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/measure/version.h"

namespace paceline::measure {
namespace {

namespace fs = std::filesystem;

/// .../site-packages/torch of the libtorch_cpu.so in this process.
std::string loaded_folder() {
  for (const std::string& line :
       split_lines(read_text_if_readable("/proc/self/maps").value_or(""))) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.ends_with("/lib/libtorch_cpu.so")) {
      return fs::path(line.substr(path)).parent_path().parent_path();
    }
  }
  return "";
}

/// The text of `name = 'text'` in version.py.
std::string assigned(const std::string& python, const std::string& name) {
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

Wheel wheel() {
  Wheel wheel{.built_version = kTorchVersion,
              .built_git = kTorchGit,
              .built_cuda = kTorchCuda,
              .folder = loaded_folder(),
              .python = kPython,
              .adapters = kAdapters};
  if (!wheel.folder.empty()) {
    const std::string python =
        read_text_if_readable(wheel.folder + "/version.py").value_or("");
    wheel.version = assigned(python, "__version__");
    wheel.git = assigned(python, "git_version");
  }
  return wheel;
}

}  // namespace paceline::measure
