// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "engines/rank_program.h"

namespace paceline {
namespace {

using testing::run_marked;

const std::string kMpirun = PACELINE_LAUNCHER " ";

TEST(Mpirun, ranks_work_together) {
  const auto said = run_marked(kMpirun + "2 PROGRAM rank 20000 ok");
  EXPECT_EQ(said.exit_code, 0) << said.text;
  EXPECT_TRUE(said.contains("rank 0 of 2, local 0 of 2, mpirun, mean 3")) << said.text;
  EXPECT_TRUE(said.contains("rank 1 of 2, local 1 of 2, mpirun, mean 3")) << said.text;
}

TEST(Mpirun, a_silent_rank_is_named_by_rank_0) {
  const auto said = run_marked(kMpirun + "3 PROGRAM rank 4000 stop");
  EXPECT_NE(said.exit_code, 0);
  EXPECT_TRUE(said.contains("paceline: rank 2 on host ")) << said.text;
  EXPECT_TRUE(said.contains("stopped answering 4 s ago; last heartbeat at step ")) << said.text;
}

TEST(Mpirun, rank_0s_death_takes_the_store_and_is_named) {
  const auto said = run_marked(kMpirun + "3 PROGRAM rank 2000 kill-first");
  EXPECT_NE(said.exit_code, 0);
  EXPECT_TRUE(said.contains("paceline: rank 0 on host ")) << said.text;
}

// It serves the store, which then neither answers nor breaks.
TEST(Mpirun, rank_0_that_is_stopped_with_the_store_is_named_by_rank_1) {
  const auto said = run_marked(kMpirun + "3 PROGRAM rank 3000 stop-first");
  EXPECT_NE(said.exit_code, 0);
  EXPECT_TRUE(said.contains("paceline: rank 0 on host ")) << said.text;
  EXPECT_TRUE(said.contains("stopped answering ")) << said.text;
}

// It takes the store with it, once the others have read why.
TEST(Mpirun, rank_0_that_alone_is_asked_to_stop_is_named_with_the_signal) {
  const auto said = run_marked(kMpirun + "3 PROGRAM rank 4000 term-first");
  EXPECT_NE(said.exit_code, 0);
  EXPECT_TRUE(said.contains("paceline: rank 0 on host ")) << said.text;
  EXPECT_TRUE(said.contains(": was asked to stop by SIGTERM")) << said.text;
}

}  // namespace
}  // namespace paceline
