// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "launch/marked_processes.h"
#include "paceline/base/clock.h"
#include "paceline/base/process.h"

namespace paceline::testing {

inline std::string mark() { return "PACELINE_TEST_MARK=" + std::to_string(getpid()); }

struct Said {
  int exit_code = -1;
  std::string text;  // stdout and stderr

  bool contains(const std::string& part) const { return text.find(part) != std::string::npos; }
};

/// Expects that all processes with this mark end within 5 s.
inline void expect_none_marked() {
  using namespace std::chrono_literals;
  const auto deadline = steady_now() + 5s;
  while (marked_processes(mark()) > 0 && steady_now() < deadline) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(marked_processes(mark()), 0);
}

/// Runs a shell command (PROGRAM in it is rank_program) to its end, 100 s
/// at most, and expects that no process of it is left.
inline Said run_marked(std::string command) {
  using namespace std::chrono_literals;
  const std::string program = "PROGRAM";
  for (auto at = command.find(program); at != std::string::npos; at = command.find(program)) {
    command.replace(at, program.size(), PACELINE_RANK_PROGRAM);
  }
  const auto result =
      run_command({"/bin/sh", "-c", "exec env " + mark() + " " + command + " 2>&1"}, 100s);
  if (!result || !result->exit_code) {
    return {-1, result ? result->output : "cannot be started"};
  }
  expect_none_marked();
  return {*result->exit_code, result->output};
}

}  // namespace paceline::testing
