// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/own_runs.h"

#include <filesystem>

#include <fmt/format.h>

#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/spawn.h"
#include "paceline/base/text.h"

namespace paceline::front {
namespace {

// A run that was asked to end has this time to finish its step.
constexpr std::chrono::seconds kJobStopGrace{5};

}  // namespace

launch::ChildExit OwnRuns::run(const std::vector<std::string>& arguments,
                               std::chrono::milliseconds deadline) {
  Command command;
  command.executable = std::filesystem::read_symlink("/proc/self/exe");
  command.argv = {"paceline"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment_with({});
  command.log = log_;
  std::filesystem::remove(log_);
  last_ = launch::wait_for_child(spawn(command), signals_, deadline, kJobStopGrace);
  return last_;
}

std::string OwnRuns::last_output_line() const {
  const std::string said = last_line(log_);
  return said.empty() ? fmt::format("ended with exit code {}", last_.exit_code) : said;
}

std::string last_line(const std::string& log) {
  std::string last;
  if (const auto text = read_text_if_readable(log)) {
    for (const std::string& line : split_lines(*text)) {
      if (!trimmed(line).empty()) {
        last = trimmed(line);
      }
    }
  }
  return last;
}

}  // namespace paceline::front
