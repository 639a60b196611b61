// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/python_package.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace paceline {
namespace {

namespace fs = std::filesystem;

class PythonPackageTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root_); }

  // Makes an empty file and the folders around it.
  std::string make(const fs::path& name) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "";
    return at(name);
  }
  std::string at(const fs::path& name) const { return (root_ / name).string(); }

  fs::path root_ =
      fs::path(testing::TempDir()) / ("python_package_test_" + std::to_string(getpid()));
};

TEST_F(PythonPackageTest, IsInstalledAroundTheProgram) {
  const fs::path site = "venv/lib/python3.11/site-packages";
  make(site / "paceline/run_module.py");
  const std::string python = make("venv/bin/python3");
  const std::string torch = at("other/lib/python3.11/site-packages/torch");
  make("other/bin/python3");
  const PythonPackage package = python_package_of(at(site / "paceline/bin/paceline"), torch);
  EXPECT_EQ(package.folder, at(site / "paceline"));
  EXPECT_EQ(package.python, python) << "not that of PyTorch's environment";
  EXPECT_EQ(package.environments, "");
}

TEST_F(PythonPackageTest, OfASourceTreeRunsInTheEnvironmentOfPyTorch) {
  make("tree/python/paceline/run_module.py");
  const std::string own = make("tree/.venv/bin/python3");
  const std::string program = at("tree/build/release/apps/paceline/paceline");
  PythonPackage package = python_package_of(program, "");
  EXPECT_EQ(package.folder, at("tree/python/paceline"));
  EXPECT_EQ(package.python, own);
  EXPECT_EQ(package.environments, at("tree/.deps/adapters"));

  const std::string theirs = make("theirs/bin/python3.12");
  package = python_package_of(program, at("theirs/lib/python3.12/site-packages/torch"));
  EXPECT_EQ(package.python, theirs);
  package = python_package_of(program, at("lib/python3/dist-packages/torch"));
  EXPECT_EQ(package.python, "python3") << "no interpreter beside that PyTorch";
}

TEST_F(PythonPackageTest, MayBeAbsent) {
  EXPECT_EQ(python_package_of(at("bin/paceline"), "").folder, "");
}

}  // namespace
}  // namespace paceline
