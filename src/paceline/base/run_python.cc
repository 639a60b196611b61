// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/run_python.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/python_package.h"
#include "paceline/base/spawn.h"
#include "paceline/base/text.h"

namespace paceline {
namespace {

// Reads from the current position to the end of the pipe or file.
std::string rest_of(int descriptor) {
  std::array<char, 1 << 16> buffer{};
  std::string text;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return text;
    }
  }
}

// Returns a file in memory that contains `text`, positioned at its start.
Descriptor file_with(std::string_view text) {
  Descriptor file(::memfd_create("paceline", MFD_CLOEXEC));
  bool good = file.is_open();
  while (good && !text.empty()) {
    const ssize_t count = ::write(file.number(), text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    good = count > 0 || (count < 0 && errno == EINTR);
  }
  if (!good || ::lseek(file.number(), 0, SEEK_SET) != 0) {
    throw WorldError("no memory for what a Python module reads or writes");
  }
  return file;
}

}  // namespace

PythonOutput run_python(const std::string& module, const std::vector<std::string>& arguments,
                        const std::string& input) {
  std::vector<std::string> words = python_module(module);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw WorldError(fmt::format("no pipe to {}", module));
  }
  const Descriptor from(pipe[0]);
  Descriptor to(pipe[1]);
  const Descriptor given = file_with(input);
  const Descriptor errors = file_with("");
  const pid_t child = spawn({.executable = words.front(),
                             .argv = words,
                             .environment = environment_with({}),
                             .input = given.number(),
                             .output = to.number(),
                             .error = errors.number()});
  to.close();
  PythonOutput output;
  output.text = rest_of(from.number());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  output.exit_code = exit_code_of(status);
  ::lseek(errors.number(), 0, SEEK_SET);
  output.errors = rest_of(errors.number());
  return output;
}

std::string last_words(const PythonOutput& output) {
  const std::vector<std::string> lines = split_lines(std::string(trimmed(output.errors)));
  return lines.empty() ? "nothing said" : lines.back();
}

}  // namespace paceline
