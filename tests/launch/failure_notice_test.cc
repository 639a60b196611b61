// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/failure_notice.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "launch/memory_board.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;
using testing::MemoryBoard;

const FailureNotice kOwn{1, "b", "out of memory", false, 3};
const FailureNotice kConsequence{0, "a", "connection to a peer lost", true, 3};
const std::vector<std::string> kHosts{"a", "b", "c"};

TEST(FailureNotice, first_cause_wins_over_consequences) {
  MemoryBoard board;
  EXPECT_FALSE(post_failure(board, kConsequence));
  EXPECT_FALSE(job_failure(board));
  EXPECT_TRUE(post_failure(board, kOwn));
  EXPECT_FALSE(post_failure(board, {2, "c", "also", false, 3}));
  EXPECT_EQ(job_failure(board)->text, "out of memory");
  EXPECT_EQ(failure_of(board, 2)->text, "also");
  EXPECT_FALSE(failure_of(board, 3));
}

TEST(FailureNotice, sentences_name_rank_and_host) {
  EXPECT_EQ(sentence(kOwn), "rank 1 on host b: out of memory");
  EXPECT_EQ(sentence({1, "b", "--model x: unknown", false, 2}),
            "--model x: unknown");
  const Silence silence{
      3, 61s, Progress{5, 0, 12, "all-reduce, 9.4 MB", false}};
  EXPECT_EQ(sentence(notice_of(silence, "h")),
            "rank 3 on host h: stopped answering 61 s ago at step 12, "
            "all-reduce, 9.4 MB");
}

TEST(Explain, own_failures_are_told_once) {
  MemoryBoard board;
  EXPECT_EQ(explain_failure(board, kOwn, kHosts, 10s), sentence(kOwn));
  EXPECT_EQ(explain_failure(board, {2, "c", "also", false, 3}, kHosts, 10s),
            std::nullopt);
  EXPECT_EQ(explain_failure(board, kConsequence, kHosts, 10s), std::nullopt);
}

TEST(Explain, a_consequence_names_the_rank_whose_heart_stopped) {
  const auto board = std::make_shared<MemoryBoard>();
  Heartbeat dead(board, 1, 0ms), alive(board, 2, 0ms);
  dead.beat(12, "all-reduce, 9.4 MB");
  std::jthread beating([&](const std::stop_token& stopped) {
    while (!stopped.stop_requested()) {
      alive.beat(12, "all-reduce");
      std::this_thread::sleep_for(5ms);
    }
  });
  EXPECT_EQ(explain_failure(*board, kConsequence, kHosts, 4s),
            "rank 1 on host b: ended without a word at step 12, all-reduce, "
            "9.4 MB");
}

TEST(Explain, a_consequence_without_a_cause_tells_itself) {
  const auto board = std::make_shared<MemoryBoard>();
  for (const int rank : {1, 2}) {
    Heartbeat(board, rank, 0ms).finish();
  }
  EXPECT_EQ(explain_failure(*board, kConsequence, kHosts, 100ms),
            sentence(kConsequence));
}

}  // namespace
}  // namespace paceline::launch
