// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/node_list.h"

#include <random>

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline {
namespace {

using Names = std::vector<std::string>;

TEST(NodeList, expands_ranges_with_their_zeros) {
  EXPECT_EQ(expand_node_list("n[1-3,07],m2"), (Names{"n1", "n2", "n3", "n07", "m2"}));
  EXPECT_EQ(expand_node_list("n[008-011]"), (Names{"n008", "n009", "n010", "n011"}));
  EXPECT_EQ(expand_node_list("single-host.example"), (Names{"single-host.example"}));
}

TEST(NodeList, multiplies_several_brackets) {
  EXPECT_EQ(expand_node_list("r[1-2]n[1,3]-ib"),
            (Names{"r1n1-ib", "r1n3-ib", "r2n1-ib", "r2n3-ib"}));
}

TEST(NodeList, rejects_what_it_cannot_read) {
  for (const char* list : {"", "n[1-3", "n]1[", "]a[1", "]a[1]", "n[[1]]", "n[1]]",
                           "[1-99999][1-99999]", "n[3-1]", "n[a-b]", "n[]", "a,,b", "n[1-]"}) {
    EXPECT_THROW(expand_node_list(list), UsageError) << list;
  }
}

// Lists drawn from the letters of the grammar: each is read or rejected.
TEST(NodeList, takes_any_text) {
  std::mt19937 random(21);
  constexpr std::string_view kLetters = "n01-,[]";
  int rejected = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string list(random() % 9, ' ');
    for (char& letter : list) {
      letter = kLetters[random() % kLetters.size()];
    }
    try {
      const Names hosts = expand_node_list(list);
      EXPECT_FALSE(hosts.empty()) << list;
      for (const std::string& host : hosts) {
        EXPECT_EQ(host.find_first_of("[],"), std::string::npos) << list;
        EXPECT_FALSE(host.empty()) << list;
      }
    } catch (const UsageError&) {
      ++rejected;
    }
  }
  EXPECT_GT(rejected, 10'000);
  EXPECT_LT(rejected, 20'000);
}

TEST(TasksPerNode, expands_repetitions) {
  EXPECT_EQ(expand_tasks_per_node("2(x3),1"), (std::vector{2, 2, 2, 1}));
  EXPECT_EQ(expand_tasks_per_node("4"), (std::vector{4}));
  for (const char* list : {"", "x3", "2(x", "2(y3)", "2(x3"}) {
    EXPECT_THROW(expand_tasks_per_node(list), UsageError) << list;
  }
}

}  // namespace
}  // namespace paceline
