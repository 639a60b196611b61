// SPDX-License-Identifier: Apache-2.0
// The modules of src/paceline include each other only as
// docs/architecture.md says.
#include "tools/module_dependencies.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

namespace paceline::tools {
namespace {

namespace fs = std::filesystem;

const fs::path kSources = fs::path(PACELINE_SOURCE_DIR) / "src/paceline";

struct Modules {
  Dependencies documented;
  Dependencies declared;
  std::set<std::string> torch_free;
};

Modules read_modules() {
  Modules modules;
  std::ifstream page(fs::path(PACELINE_SOURCE_DIR) / "docs/architecture.md");
  std::ifstream list(fs::path(PACELINE_BINARY_DIR) / "modules.txt");
  modules.documented = documented_dependencies(page, &modules.torch_free);
  modules.declared = declared_dependencies(list);
  return modules;
}

TEST(ModuleDependencies, DepsAreThoseOfTheArchitecturePage) {
  const Modules modules = read_modules();
  ASSERT_TRUE(modules.declared.contains("base"));
  for (const auto& [module, deps] : modules.declared) {
    ASSERT_TRUE(modules.documented.contains(module))
        << module << " has no row in docs/architecture.md";
    const std::set<std::string>& allowed = modules.documented.at(module);
    for (const std::string& dep : deps) {
      EXPECT_TRUE(allowed.contains(dep))
          << "src/paceline/" << module << "/CMakeLists.txt: DEPS names " << dep
          << ", docs/architecture.md does not";
    }
  }
}

TEST(ModuleDependencies, FilesIncludeOnlyWhatTheirDepsName) {
  const Modules modules = read_modules();
  std::size_t files = 0;
  for (const auto& [module, deps] : modules.declared) {
    const std::set<std::string> allowed = reachable(modules.declared, module);
    for (const auto& entry : fs::recursive_directory_iterator(kSources / module)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") {
        continue;
      }
      ++files;
      std::ifstream source(entry.path());
      const std::string name = fs::relative(entry.path(), PACELINE_SOURCE_DIR).string();
      for (const std::string& sentence :
           offending_includes(name, source, allowed, !modules.torch_free.contains(module))) {
        ADD_FAILURE() << sentence;
      }
    }
  }
  EXPECT_GT(files, 20U);
}

TEST(ModuleDependencies, NoDependencyPointsBack) {
  const Modules modules = read_modules();
  for (const auto& [module, deps] : modules.documented) {
    for (const std::string& dep : deps) {
      EXPECT_FALSE(reachable(modules.documented, dep).contains(module))
          << module << " and " << dep << " may include each other";
    }
    if (modules.torch_free.contains(module)) {
      EXPECT_TRUE(std::includes(modules.torch_free.begin(), modules.torch_free.end(), deps.begin(),
                                deps.end()))
          << module << " is torch-free and looks into a module that is not";
    }
  }
}

TEST(ModuleDependencies, AnIncludeThatDepsDoNotNameIsPrintedWithItsLine) {
  std::istringstream source(
      "#include \"paceline/base/error.h\"\n"
      "#include <torch/torch.h>\n"
      "#include \"paceline/report/format.h\"\n"
      "#include \"error.h\"\n");
  const std::vector<std::string> found = offending_includes("a.cc", source, {"base"}, false);
  const std::vector<std::string> expected = {
      "a.cc:2: includes torch/torch.h, in the torch-free half",
      "a.cc:3: includes paceline/report/format.h, which its DEPS do not name",
      "a.cc:4: includes error.h, which is no \"paceline/<module>/<file>\""};
  EXPECT_EQ(found, expected);
}

TEST(ModuleDependencies, DepsOfDepsAreReachable) {
  std::istringstream list("base: \nstats: base\nrecord: stats\n");
  const Dependencies dependencies = declared_dependencies(list);
  const std::set<std::string> expected = {"base", "record", "stats"};
  EXPECT_EQ(reachable(dependencies, "record"), expected);
  EXPECT_EQ(reachable(dependencies, "base"), std::set<std::string>{"base"});
}

}  // namespace
}  // namespace paceline::tools
