// SPDX-License-Identifier: Apache-2.0
// The rooms of src/paceline look into each other only as
// docs/architecture.md says.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

#include "tools/arrows.h"

namespace paceline::tools {
namespace {

namespace fs = std::filesystem;

const fs::path kSources = fs::path(PACELINE_SOURCE_DIR) / "src/paceline";

struct Rooms {
  Arrows documented;
  Arrows declared;
  std::set<std::string> torch_free;
};

Rooms read_rooms() {
  Rooms rooms;
  std::ifstream page(fs::path(PACELINE_SOURCE_DIR) / "docs/architecture.md");
  std::ifstream list(fs::path(PACELINE_BINARY_DIR) / "rooms.txt");
  rooms.documented = documented_arrows(page, &rooms.torch_free);
  rooms.declared = declared_arrows(list);
  return rooms;
}

TEST(IncludeArrows, DepsAreThoseOfTheArchitecturePage) {
  const Rooms rooms = read_rooms();
  ASSERT_TRUE(rooms.declared.contains("base"));
  for (const auto& [room, deps] : rooms.declared) {
    ASSERT_TRUE(rooms.documented.contains(room))
        << room << " has no row in docs/architecture.md";
    const std::set<std::string>& allowed = rooms.documented.at(room);
    for (const std::string& dep : deps) {
      EXPECT_TRUE(allowed.contains(dep))
          << "src/paceline/" << room << "/CMakeLists.txt: DEPS names " << dep
          << ", docs/architecture.md does not";
    }
  }
}

TEST(IncludeArrows, FilesIncludeOnlyWhatTheirDepsName) {
  const Rooms rooms = read_rooms();
  std::size_t files = 0;
  for (const auto& [room, deps] : rooms.declared) {
    const std::set<std::string> allowed = reachable(rooms.declared, room);
    for (const auto& entry :
         fs::recursive_directory_iterator(kSources / room)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") {
        continue;
      }
      ++files;
      std::ifstream source(entry.path());
      const std::string name =
          fs::relative(entry.path(), PACELINE_SOURCE_DIR).string();
      for (const std::string& sentence : offending_includes(
               name, source, allowed, !rooms.torch_free.contains(room))) {
        ADD_FAILURE() << sentence;
      }
    }
  }
  EXPECT_GT(files, 20U);
}

TEST(IncludeArrows, NoArrowPointsBack) {
  const Rooms rooms = read_rooms();
  for (const auto& [room, deps] : rooms.documented) {
    for (const std::string& dep : deps) {
      EXPECT_FALSE(reachable(rooms.documented, dep).contains(room))
          << room << " and " << dep << " may include each other";
    }
    if (rooms.torch_free.contains(room)) {
      EXPECT_TRUE(std::includes(rooms.torch_free.begin(),
                                rooms.torch_free.end(),
                                deps.begin(),
                                deps.end()))
          << room << " is torch-free and looks into a room that is not";
    }
  }
}

TEST(IncludeArrows, AnIncludeThatDepsDoNotNameIsPrintedWithItsLine) {
  std::istringstream source(
      "#include \"paceline/base/error.h\"\n"
      "#include <torch/torch.h>\n"
      "#include \"paceline/report/format.h\"\n"
      "#include \"error.h\"\n");
  const std::vector<std::string> found =
      offending_includes("a.cc", source, {"base"}, false);
  const std::vector<std::string> expected = {
      "a.cc:2: includes torch/torch.h, in the torch-free half",
      "a.cc:3: includes paceline/report/format.h, which its DEPS do not name",
      "a.cc:4: includes error.h, which is no \"paceline/<room>/<file>\""};
  EXPECT_EQ(found, expected);
}

TEST(IncludeArrows, DepsOfDepsAreReachable) {
  std::istringstream list("base: \nstats: base\nrecord: stats\n");
  const Arrows arrows = declared_arrows(list);
  const std::set<std::string> expected = {"base", "record", "stats"};
  EXPECT_EQ(reachable(arrows, "record"), expected);
  EXPECT_EQ(reachable(arrows, "base"), std::set<std::string>{"base"});
}

}  // namespace
}  // namespace paceline::tools
