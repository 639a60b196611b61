// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline {

/// The output of a module of the Python package, and its exit code.
struct PythonOutput {
  int exit_code = 0;         // 128 if a signal ended the module
  std::string text, errors;  // stdout and stderr of the module
};

/// Runs `module` ("paceline.readers") of the package until it ends, with `input` on its stdin.
/// Throws WorldError if the module cannot be started.
PythonOutput run_python(const std::string& module, const std::vector<std::string>& arguments,
                        const std::string& input = "");

/// Returns the last line that the module wrote on stderr, for a message about its end; "nothing
/// said" if there is none.
std::string last_error_line(const PythonOutput& output);

}  // namespace paceline
