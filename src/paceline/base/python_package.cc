// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/python_package.h"

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/program_place.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

bool is_existing_file(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

bool is_package(const fs::path& folder) { return is_existing_file(folder / "run_module.py"); }

// For PREFIX/lib/pythonX.Y/site-packages/NAME returns PREFIX/bin/python3, else
// PREFIX/bin/pythonX.Y, else the python3 of PATH.
std::string interpreter_beside(const fs::path& package) {
  const fs::path libraries = package.parent_path().parent_path();
  const fs::path folder = libraries.parent_path().parent_path() / "bin";
  for (const std::string& name : {std::string("python3"), libraries.filename().string()}) {
    if (is_existing_file(folder / name)) {
      return (folder / name).string();
    }
  }
  return "python3";
}

// Returns the source tree of `program`: the nearest folder above it that has the package.
fs::path source_tree(const fs::path& program) {
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (is_package(folder / "python" / "paceline")) {
      return folder;
    }
  }
  return {};
}

}  // namespace

PythonPackage python_package_of(const fs::path& program, const fs::path& torch) {
  if (const fs::path around = program.parent_path().parent_path(); is_package(around)) {
    return {.folder = around.string(), .python = interpreter_beside(around)};
  }
  const fs::path root = source_tree(program);
  const fs::path own = root / ".venv" / "bin" / "python3";
  PythonPackage package{.python = !torch.empty()          ? interpreter_beside(torch)
                                  : is_existing_file(own) ? own.string()
                                                          : "python3"};
  if (!root.empty()) {
    package.folder = (root / "python" / "paceline").string();
    package.environments = (root / ".deps" / "adapters").string();
  }
  return package;
}

PythonPackage python_package() { return python_package_of(program_path(), loaded_torch()); }

std::vector<std::string> python_module_command(const std::string& module,
                                               const std::string& python) {
  const PythonPackage package = python_package();
  if (package.folder.empty()) {
    throw WorldError(
        fmt::format("the Python package paceline, whose {} is needed, lies neither around {} nor "
                    "in a folder python/ above it",
                    module, program_path().string()));
  }
  return {python.empty() ? package.python : python, package.folder + "/run_module.py", module};
}

std::string loaded_torch() {
  for (const std::string& line :
       split_lines(read_text_if_readable("/proc/self/maps").value_or(""))) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.ends_with("/lib/libtorch_cpu.so")) {
      return fs::path(line.substr(path)).parent_path().parent_path();
    }
  }
  return "";
}

}  // namespace paceline
