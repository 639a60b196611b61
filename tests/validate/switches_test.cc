// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/switches.h"

#include <regex>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/file.h"
#include "paceline/validate/fixed.h"

namespace paceline::validate {
namespace {

const std::string kRoot = PACELINE_SOURCE_DIR;

TEST(Fixed, EveryNumberStandsInTheTable) {
  const std::string table =
      read_text(kRoot + "/src/paceline/validate/fixed.cc");
  const std::string header =
      read_text(kRoot + "/src/paceline/validate/fixed.h");
  const std::regex declared("constexpr (?:double|int) (k\\w+) =");
  std::size_t numbers = 0;
  for (auto it = std::sregex_iterator(header.begin(), header.end(), declared);
       it != std::sregex_iterator();
       ++it) {
    ++numbers;
    const std::string name = (*it)[1];
    EXPECT_TRUE(std::regex_search(table, std::regex("\\b" + name + "\\b")))
        << name;
  }
  EXPECT_GT(numbers, 25U);
}

TEST(Fixed, NamesAreUniqueInATableAndSourcesAreNamed) {
  std::set<std::pair<Table, std::string_view>> names;
  for (const FixedInfo& info : fixed_table()) {
    EXPECT_TRUE(names.emplace(info.table, info.name).second) << info.name;
    EXPECT_GT(info.value, 0) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
    // What has no source can only have been chosen.
    EXPECT_TRUE(info.chosen || !info.source.starts_with("no source"))
        << info.name;
  }
  for (const SwitchInfo& info : switch_table()) {
    EXPECT_TRUE(names.emplace(info.table, info.name).second) << info.name;
    EXPECT_FALSE(info.what.empty()) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
  }
}

}  // namespace
}  // namespace paceline::validate
