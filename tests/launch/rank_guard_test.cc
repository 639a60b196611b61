// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/rank_guard.h"

#include <future>

#include <gtest/gtest.h>

#include "launch/memory_board.h"
#include "paceline/launch/failure_notice.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;
using testing::MemoryBoard;

// One rank's guard, and the sentence with which it ends its process.
struct Guarded {
  Guarded(const std::shared_ptr<MemoryBoard>& board,
          int rank,
          std::chrono::milliseconds timeout)
      : heart(std::make_shared<Heartbeat>(board, rank, 0ms)),
        guard({.board = board,
               .heart = heart,
               .rank = rank,
               .hosts = {"a", "b", "c"},
               .timeout = timeout,
               .patience = 50ms,
               .end = [this](const std::string& text) {
                 said.set_value(text);
               }}) {}

  std::string last_words() {
    auto future = said.get_future();
    return future.wait_for(10s) == std::future_status::ready ? future.get()
                                                             : "nothing";
  }

  std::promise<std::string> said;
  std::shared_ptr<Heartbeat> heart;
  RankGuard guard;  // last: its thread uses the rest
};

TEST(RankGuard, rank_0_finds_a_silent_rank_and_all_end) {
  const auto board = std::make_shared<MemoryBoard>();
  Guarded zero(board, 0, 2s), one(board, 1, 2s);
  Heartbeat(board, 2, 0ms).beat(5, "all-gather");
  const auto told = zero.last_words();
  EXPECT_NE(told.find("rank 2 on host c: stopped answering"), std::string::npos)
      << told;
  EXPECT_NE(told.find("at step 5, all-gather"), std::string::npos) << told;
  EXPECT_EQ(one.last_words(), "") << "ends, but rank 0 speaks";
}

TEST(RankGuard, rank_1_watches_rank_0) {
  const auto board = std::make_shared<MemoryBoard>();
  Guarded one(board, 1, 2s);
  const auto told = one.last_words();
  EXPECT_NE(told.find("rank 0 on host a: stopped answering"), std::string::npos)
      << told;
}

TEST(RankGuard, a_filed_failure_ends_a_stuck_rank) {
  const auto board = std::make_shared<MemoryBoard>();
  Guarded two(board, 2, 1h);
  post_failure(*board, {0, "a", "broken", false, 3});
  EXPECT_EQ(two.last_words(), "");
}

TEST(RankGuard, a_lost_board_is_told_by_rank_1) {
  const auto board = std::make_shared<MemoryBoard>();
  Guarded one(board, 1, 1h), two(board, 2, 1h);
  board->vanish();
  EXPECT_EQ(one.last_words(), "rank 1 on host b: the board is gone");
  EXPECT_EQ(two.last_words(), "");
}

TEST(RankGuard, a_board_that_rank_0_held_names_it) {
  RankGuard::Options options;
  options.hosts = {"a", "b"};
  options.board_is_rank_0s = true;
  options.rank = 1;
  EXPECT_EQ(RankGuard::lost_board(options, "gone"),
            "rank 0 on host a: ended without a word");
  options.rank = 0;
  EXPECT_EQ(RankGuard::lost_board(options, "gone"), "");
}

TEST(RankGuard, a_board_that_says_nothing_ends_all) {
  const auto board = std::make_shared<MemoryBoard>();
  Guarded one(board, 1, 400ms), two(board, 2, 400ms);
  board->hush();
  const auto told = one.last_words();
  EXPECT_TRUE(told.starts_with(
      "rank 1 on host b: the ranks' store has not answered for "))
      << told;
  EXPECT_EQ(two.last_words(), "");
  board->speak();  // so that the guards' threads can be joined
}

TEST(RankGuard, ends_quietly_with_its_rank) {
  const auto board = std::make_shared<MemoryBoard>();
  Guarded zero(board, 0, 1h);
}

}  // namespace
}  // namespace paceline::launch
