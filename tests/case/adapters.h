// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/case/experiment.h"
#include "paceline/case/outside.h"

namespace paceline::cases {

namespace fs = std::filesystem;

/// A folder of adapters with one that is installed, one that is not, and one that needs no
/// environment of its own.
class Adapters : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "adapters");
    fs::create_directories(root_ / ".deps" / "adapters" / "here");
    std::ofstream(root_ / ".deps" / "adapters" / "here" / "installed") << "x";
    write(R"(
[own]
about = "of the build"
module = "own"
arguments = ["fast"]
options = { start = "formula" }
[here]
module = "here"
environment = "here"
engine = "grpc"
models = ["lenet"]
dtypes = ["fp32"]
optimizers = ["sgd", "adamw"]
compiles = "always"
[absent]
module = "absent"
environment = "absent"
)");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& text) {
    std::ofstream(root_ / "adapters" / "adapters.toml") << text;
  }
  PythonPackage package() const {
    return {.folder = root_.string(),
            .python = (root_ / "python" / "bin" / "python3").string(),
            .environments = (root_ / ".deps" / "adapters").string()};
  }
  std::vector<Adapter> read() const { return read_adapters(package()); }
  std::string rejection() const {
    try {
      read();
    } catch (const UsageError& error) {
      const std::string path = (root_ / "adapters" / "adapters.toml").string();
      return std::string(error.what()).substr(path.size());
    }
    return "accepted";
  }
  MachineFacts machine() const {
    return {.cores = 2,
            .native_bf16 = true,
            .models = {"lenet", "resnet50"},
            .engines = {"gloo"},
            .adapters = read()};
  }
  static std::vector<Case> cases(const std::vector<std::pair<std::string, std::string>>& flags,
                                 const MachineFacts& machine) {
    RawSettings raw;
    for (const auto& [name, text] : flags) {
      raw.flags[name] = split_flag(name, {text});
    }
    return expand(raw, machine).cases;
  }

  fs::path root_ = fs::path(testing::TempDir()) / ("outside_test_" + std::to_string(getpid()));
};

}  // namespace paceline::cases
