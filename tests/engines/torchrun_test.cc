// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "engines/rank_program.h"

namespace paceline {
namespace {

using testing::run_marked;

const std::string kTorchrun = PACELINE_LAUNCHER " ";

// torchrun owns a store on MASTER_PORT: rank 0 must not open one there.
TEST(Torchrun, ranks_work_together) {
  const auto said = run_marked(kTorchrun + "2 PROGRAM rank 20000 ok");
  EXPECT_EQ(said.exit_code, 0) << said.text;
  EXPECT_TRUE(said.contains("rank 0 of 2, local 0 of 2, torchrun, mean 3")) << said.text;
  EXPECT_TRUE(said.contains("rank 1 of 2, local 1 of 2, torchrun, mean 3")) << said.text;
}

TEST(Torchrun, a_killed_rank_is_named_by_a_survivor) {
  const auto said = run_marked(kTorchrun + "3 PROGRAM rank 2000 kill");
  EXPECT_NE(said.exit_code, 0);
  EXPECT_TRUE(said.contains("paceline: rank 2 on host ")) << said.text;
  EXPECT_TRUE(said.contains("ended without an error message; last heartbeat at step "))
      << said.text;
}

}  // namespace
}  // namespace paceline
