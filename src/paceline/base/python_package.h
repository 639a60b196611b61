// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace paceline {

/// The Python package `paceline` that belongs to a program.
struct PythonPackage {
  std::string folder{};        // holds adapters/ and more; empty: not found
  std::string python{};        // the interpreter of its environment
  std::string environments{};  // of `make adapters`; empty: it is installed
};

/// The package of `program`: an installed program is in the package's own
/// bin/; a program that was built lies somewhere below the source tree, whose python/ has the
/// package.  The interpreter is that of the environment that the package is installed in; in a
/// source tree that of `torch`, the folder of the loaded PyTorch wheel, where it is not empty, else
/// that of .venv.
PythonPackage python_package_of(const std::filesystem::path& program,
                                const std::filesystem::path& torch);

/// That of this process.
PythonPackage python_package();

/// The words of a command that runs `module` ("paceline.readers") of the package; its arguments
/// follow.  `python` in place of the package's own interpreter needs no package of this name.
/// Throws WorldError where there is no package.
std::vector<std::string> python_module(const std::string& module, const std::string& python = "");

/// .../site-packages/torch of the libtorch_cpu.so in this process; empty where there is none.
std::string loaded_torch();

}  // namespace paceline
