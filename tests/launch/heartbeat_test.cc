// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/heartbeat.h"

#include <gtest/gtest.h>

#include "launch/memory_board.h"
#include "paceline/launch/heart_judge.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;
using testing::MemoryBoard;

TEST(Progress, survives_the_board) {
  const Progress progress{7, 1234, 12, "all-reduce, \"9.4\" MB\n", true};
  EXPECT_EQ(decode_progress(encode(progress)), progress);
  for (const char* text : {"", "[1,2,3]", "{}", "[1,2,3,4,5]", "[1"}) {
    EXPECT_FALSE(decode_progress(text)) << text;
  }
}

TEST(Progress, says_where_a_rank_is) {
  EXPECT_EQ(whereabouts({1, 0, 12, "all-reduce, 9.4 MB", false}),
            "at step 12, all-reduce, 9.4 MB");
  EXPECT_EQ(whereabouts({1, 0, -1, "building resnet50", false}),
            "before its first step, building resnet50");
  EXPECT_EQ(whereabouts({1, 0, 3, "", false}), "at step 3");
  EXPECT_EQ(whereabouts({1, 0, kNoSteps, "at all-reduce of 64 B", false}),
            "at all-reduce of 64 B");
}

TEST(Heartbeat, posts_at_most_once_an_interval) {
  const auto board = std::make_shared<MemoryBoard>();
  Heartbeat heart(board, 2, 1h);
  for (int step = 0; step < 1000; ++step) {
    heart.beat(step, "forward");
  }
  EXPECT_EQ(board->posts(), 1);
  EXPECT_EQ(read_progress(*board, 2)->step, 0);
  heart.finish();  // is not put off
  EXPECT_TRUE(read_progress(*board, 2)->done);
}

TEST(Heartbeat, says_at_once_where_it_arrived) {
  const auto board = std::make_shared<MemoryBoard>();
  Heartbeat heart(board, 0, 1h);
  heart.arrive(kNoSteps, "at all-reduce of 64 B");
  heart.arrive(kNoSteps, "at all-reduce of 256 B");
  EXPECT_EQ(read_progress(*board, 0)->operation, "at all-reduce of 256 B");
}

TEST(Heartbeat, only_the_claimer_counts_while_there_is_one) {
  const auto board = std::make_shared<MemoryBoard>();
  Heartbeat heart(board, 0, 0ms);
  heart.beat(4, "all-reduce");
  heart.beat_unless_claimed();
  EXPECT_EQ(board->posts(), 2);
  {
    const Heartbeat::Claim claim(heart);
    heart.beat_unless_claimed();
    EXPECT_EQ(board->posts(), 2);
    heart.beat(5, "all-reduce");
    EXPECT_EQ(board->posts(), 3);
  }
  heart.beat_unless_claimed();
  EXPECT_EQ(board->posts(), 4);
  EXPECT_EQ(read_progress(*board, 0)->step, 5) << "repeats what was said";
}

class Judging : public ::testing::Test {
 protected:
  void look_at(std::chrono::nanoseconds now) { judge_.look(*board_, now); }

  std::shared_ptr<MemoryBoard> board_ = std::make_shared<MemoryBoard>();
  Heartbeat zero_{board_, 0, 0ms}, one_{board_, 1, 0ms};
  HeartJudge judge_{{0, 1}, 10s};
};

TEST_F(Judging, finds_the_rank_that_fell_silent) {
  for (auto t = 0s; t <= 12s; t += 2s) {
    zero_.beat(t.count(), "");
    if (t <= 1s) {
      one_.beat(12, "all-reduce, 9.4 MB");
    }
    look_at(t);
  }
  const auto lost = judge_.lost();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->rank, 1);
  EXPECT_EQ(lost->since, 12s);
  EXPECT_EQ(lost->last->operation, "all-reduce, 9.4 MB");
}

TEST_F(Judging, waits_until_the_timeout_is_over) {
  for (auto t = 0s; t <= 10s; t += 2s) {
    look_at(t);
  }
  EXPECT_FALSE(judge_.lost());
  look_at(11s);
  EXPECT_EQ(judge_.lost()->rank, 0) << "never beating is silence, too";
  EXPECT_FALSE(judge_.lost()->last);
}

TEST_F(Judging, its_own_absence_counts_little) {
  look_at(0s);
  look_at(3600s);
  EXPECT_FALSE(judge_.lost());
}

TEST_F(Judging, ranks_that_ended_are_not_missed) {
  zero_.beat(1, "");
  zero_.finish();
  judge_.dismiss(1);
  for (auto t = 0s; t <= 30s; t += 2s) {
    look_at(t);
  }
  EXPECT_FALSE(judge_.lost());
}

}  // namespace
}  // namespace paceline::launch
