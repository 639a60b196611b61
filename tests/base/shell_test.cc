// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/shell.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(ShellWord, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(shell_word("a-b_c/d.e=1,2"), "a-b_c/d.e=1,2");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$HOME"), "'$HOME'");
}

TEST(ShellCommand, QuotesEachWord) {
  EXPECT_EQ(shell_command({"a", "", "b c", "it's", "\\", "--x=1,2"}),
            "a '' 'b c' 'it'\\''s' '\\' --x=1,2");
}

}  // namespace
}  // namespace paceline
