// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "engines/rank_program.h"

namespace paceline {
namespace {

using testing::run_marked;

const std::string kSrun = PACELINE_LAUNCHER " ";

TEST(Srun, ranks_work_together) {
  const auto said = run_marked(kSrun + "2 PROGRAM rank 20000 ok");
  EXPECT_EQ(said.exit_code, 0) << said.text;
  EXPECT_TRUE(said.contains("rank 0 of 2, local 0 of 2, srun, mean 3")) << said.text;
  EXPECT_TRUE(said.contains("rank 1 of 2, local 1 of 2, srun, mean 3")) << said.text;
}

TEST(Srun, a_failing_rank_tells_why) {
  const auto said = run_marked(kSrun + "3 PROGRAM rank 2000 throw");
  EXPECT_NE(said.exit_code, 0);
  EXPECT_TRUE(said.contains("paceline: rank 2 on host ")) << said.text;
  EXPECT_TRUE(said.contains("broken on purpose")) << said.text;
}

// It takes the store with it, once the others have read why.
TEST(Srun, rank_0_that_alone_is_asked_to_stop_is_named_with_the_signal) {
  const auto said = run_marked(kSrun + "3 PROGRAM rank 4000 term-first");
  EXPECT_NE(said.exit_code, 0);
  EXPECT_TRUE(said.contains("paceline: rank 0 on host ")) << said.text;
  EXPECT_TRUE(said.contains(": was asked to stop by SIGTERM")) << said.text;
}

}  // namespace
}  // namespace paceline
