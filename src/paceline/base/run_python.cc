// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/run_python.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/python_package.h"
#include "paceline/base/text.h"

namespace paceline {
namespace {

constexpr std::chrono::hours kDeadline{24};

}  // namespace

PythonOutput run_python(const std::string& module, const std::vector<std::string>& arguments,
                        const std::string& input) {
  std::vector<std::string> words = python_module_command(module);
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto result = run_command(words, kDeadline, input);
  if (!result) {
    throw WorldError(fmt::format("cannot start '{}'", words.front()));
  }
  return {.exit_code = result->exit_code.value_or(kSignalStatus),
          .text = std::move(result->output),
          .errors = std::move(result->errors)};
}

std::string last_error_line(const PythonOutput& output) {
  const std::vector<std::string> lines = split_lines(std::string(trimmed(output.errors)));
  return lines.empty() ? "nothing said" : lines.back();
}

}  // namespace paceline
