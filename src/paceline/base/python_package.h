// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace paceline {

/// The Python package `paceline` that belongs to a program.
struct PythonPackage {
  std::string folder{};        // contains adapters/ and more; empty: not found
  std::string python{};        // the interpreter of the package's environment
  std::string environments{};  // folder of `make adapters`; empty: the package is installed
};

/// Finds the package of `program`.  An installed program lies in the package's bin/; a built
/// program lies somewhere below the source tree, whose python/ has the package.  The interpreter is
/// that of the environment in which the package is installed.  In a source tree it is that of
/// `torch`, the folder of the loaded PyTorch wheel, if not empty, else that of .venv.
PythonPackage python_package_of(const std::filesystem::path& program,
                                const std::filesystem::path& torch);

/// Returns the package of this process's program.
PythonPackage python_package();

/// Returns the command that runs `module` ("paceline.readers") of the package; the caller appends
/// the arguments.  If `python` is given, this interpreter, whose environment need not contain the
/// package, replaces the package's own.  Throws WorldError if there is no package.
std::vector<std::string> python_module_command(const std::string& module,
                                               const std::string& python = "");

/// Returns .../site-packages/torch, from the libtorch_cpu.so in this process; empty if none is
/// loaded.
std::string loaded_torch();

}  // namespace paceline
