// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace paceline {

namespace fs = std::filesystem;

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

/// Flag and file of a cluster to predict for.
inline const std::string kCluster =
    "--cluster " PACELINE_SOURCE_DIR "/clusters/8x4-2080ti-10gbe.toml";

/// Number of lines of a file; 0 where there is none.
inline long lines_of(const fs::path& path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

/// A folder of its own, gone after the test, in which the program runs.
class Program : public ::testing::Test {
 protected:
  Program() {
    std::string name = fs::temp_directory_path() / "paceline-cli-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Program() override { fs::remove_all(folder_); }

  Outcome run(const std::string& arguments) const {
    const fs::path errors = folder_ / "stderr";
    // In braces, so that `arguments` may go on with a script.
    const std::string line = "cd '" + folder_.string() + "' && { '" + PACELINE_PROGRAM "' " +
                             arguments + "; } 2>'" + errors.string() + "' </dev/null";
    Outcome outcome;
    FILE* pipe = popen(line.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      outcome.out.append(buffer.data(), n);
    }
    outcome.exit_code = WEXITSTATUS(pclose(pipe));
    std::ifstream file(errors);
    outcome.err.assign(std::istreambuf_iterator<char>(file), {});
    return outcome;
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  /// Exit 2, nothing on stdout, one line on stderr that begins so, and no file left behind.
  void expect_rejected(const std::string& arguments, const std::string& sentence) const {
    SCOPED_TRACE(arguments);
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.substr(0, sentence.size()), sentence);
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "results"));
  }

  fs::path folder_;
};

}  // namespace paceline
