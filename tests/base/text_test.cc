// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/text.h"

#include <vector>

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(SplitAt, KeepsEmptyParts) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(split_at("a,,bc", ','), (Parts{"a", "", "bc"}));
  EXPECT_EQ(split_at("a,", ','), (Parts{"a", ""}));
  EXPECT_EQ(split_at("", ','), Parts{""});
}

TEST(EditDistance, CountsEachKindOfEditOnce) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("fusoin", "fusion"), 1U);
  EXPECT_EQ(edit_distance("ca", "ac"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), edit_distance("ba", "ab"));
}

TEST(UnknownName, SuggestsTheNearestAndListsAll) {
  const std::vector<std::string> known{"lenet", "resnet18", "resnet50"};
  EXPECT_EQ(unknown_name_message("model", "resnet5", known),
            "unknown model 'resnet5'; did you mean 'resnet50'? "
            "Known: lenet, resnet18, resnet50");
  EXPECT_EQ(nearest_name("adamW", std::vector<std::string>{"adam", "adamw"}), "adamw");
  EXPECT_EQ(nearest_name("SGD", std::vector<std::string>{"sgd"}), "sgd");
  EXPECT_EQ(unknown_name_message("model", "transformer", known),
            "unknown model 'transformer'. Known: lenet, resnet18, resnet50");
}

TEST(Counted, SaysOneOrMany) {
  EXPECT_EQ(counted(0, "case"), "0 cases");
  EXPECT_EQ(counted(1, "case"), "1 case");
  EXPECT_EQ(counted(2, "case"), "2 cases");
}

TEST(Shown, IsPrintableAndShort) {
  EXPECT_EQ(shown("a\x1b[31mb\n"), "a?[31mb?");
  EXPECT_EQ(shown(std::string(121, 'x')), std::string(120, 'x') + "...");
}

// What nlohmann's library says of a text, behind its own name of the error.
TEST(NotJson, SaysWhereAndWhy) {
  const auto said = [](std::string_view place) {
    return "[json.exception.parse_error.101] parse error at " + std::string(place) +
           ": unexpected '\x07'";
  };
  EXPECT_EQ(not_json_message("{,}\n", said("line 1, column 2")),
            "not JSON: column 2: unexpected '?'");
  EXPECT_EQ(not_json_message("{\n,}", said("line 2, column 1")),
            "not JSON: line 2, column 1: unexpected '?'");
  EXPECT_EQ(not_json_message("{", "something else"), "not JSON: something else");
  EXPECT_EQ(not_json_message("{}",
                             "[json.exception.out_of_range.403] key 'config' not "
                             "found"),
            "key 'config' is missing");
}

TEST(Trimmed, CutsBlanksAtBothEndsOnly) {
  EXPECT_EQ(trimmed(" \ta b\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(NumberFrom, TakesAWholeTextThatFitsTheType) {
  EXPECT_EQ(number_from<int>("-12"), -12);
  EXPECT_EQ(number_from<double>("2.5e3"), 2500);
  for (const char* text : {"", "+1", " 1", "1 ", "1.5", "x", "4294967296"}) {
    EXPECT_FALSE(number_from<int>(text)) << text;
  }
}

TEST(AddOnce, KeepsTheFirstOfEqualValues) {
  std::vector<std::string> names{"a"};
  EXPECT_TRUE(add_once(names, "b"));
  EXPECT_FALSE(add_once(names, "a"));
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace paceline
