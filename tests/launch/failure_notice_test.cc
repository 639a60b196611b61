// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/failure_notice.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "launch/memory_store.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;
using testing::MemoryStore;

const FailureNotice kOwn{1, "b", "out of memory", false, 3};
const FailureNotice kConsequence{0, "a", "connection to a peer lost", true, 3};
const std::vector<std::string> kHosts{"a", "b", "c"};

TEST(FailureNotice, first_cause_wins_over_consequences) {
  MemoryStore store;
  EXPECT_FALSE(post_failure(store, kConsequence));
  EXPECT_FALSE(job_failure_cause(store));
  EXPECT_TRUE(post_failure(store, kOwn));
  EXPECT_FALSE(post_failure(store, {2, "c", "also", false, 3}));
  EXPECT_EQ(job_failure_cause(store)->text, "out of memory");
  EXPECT_EQ(failure_notice_of(store, 2)->text, "also");
  EXPECT_FALSE(failure_notice_of(store, 3));
}

TEST(FailureNotice, sentences_name_rank_and_host) {
  EXPECT_EQ(failure_message(kOwn), "rank 1 on host b: out of memory");
  EXPECT_EQ(failure_message({1, "b", "--model x: unknown", false, 2}), "--model x: unknown");
  const SilentRank silence{3, 61s, Progress{5, 0, 12, "all-reduce, 9.4 MB", false}};
  EXPECT_EQ(failure_message(silent_rank_notice(silence, "h")),
            "rank 3 on host h: stopped answering 61 s ago; last heartbeat at step 12, all-reduce, "
            "9.4 MB");
}

TEST(FailureNotice, sentences_name_the_role_that_a_rank_has_said) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat server(store, 3, 0ms);
  server.set_role("server 1");
  const auto last = read_progress(*store, 3);
  const FailureNotice notice = silent_rank_notice(SilentRank{3, 61s, last}, "h");
  EXPECT_EQ(failure_message(notice),
            "server 1 (rank 3) on host h: stopped answering 61 s ago; last heartbeat before its "
            "first step");
  post_failure(*store, notice);
  EXPECT_EQ(failure_message(*job_failure_cause(*store)), failure_message(notice));
}

TEST(Explain, own_failures_are_told_once) {
  MemoryStore store;
  EXPECT_EQ(explain_failure(store, kOwn, kHosts, 10s), failure_message(kOwn));
  EXPECT_EQ(explain_failure(store, {2, "c", "also", false, 3}, kHosts, 10s), std::nullopt);
  EXPECT_EQ(explain_failure(store, kConsequence, kHosts, 10s), std::nullopt);
}

TEST(Explain, a_consequence_names_the_rank_whose_heartbeat_stopped) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat dead(store, 1, 0ms), alive(store, 2, 0ms);
  dead.beat(12, "all-reduce, 9.4 MB");
  std::jthread beating([&](const std::stop_token& stopped) {
    while (!stopped.stop_requested()) {
      alive.beat(12, "all-reduce");
      std::this_thread::sleep_for(5ms);
    }
  });
  EXPECT_EQ(explain_failure(*store, kConsequence, kHosts, 4s),
            "rank 1 on host b: ended without an error message; last heartbeat at step 12, "
            "all-reduce, 9.4 MB");
}

TEST(Explain, a_consequence_without_a_cause_tells_itself) {
  const auto store = std::make_shared<MemoryStore>();
  post_failure(*store, {1, "b", "connection to a peer lost", true, 3});
  post_failure(*store, {2, "c", "connection to a peer lost", true, 3});
  EXPECT_EQ(explain_failure(*store, kConsequence, kHosts, 100ms), failure_message(kConsequence));
}

// As a Python program does that calls sys.exit(0) too early.
TEST(Explain, a_consequence_names_the_rank_that_left_early) {
  const auto store = std::make_shared<MemoryStore>();
  post_failure(*store, {1, "b", "connection to a peer lost", true, 3});
  Heartbeat left(store, 2, 0ms);
  left.beat(12, "");
  left.finish();
  EXPECT_EQ(explain_failure(*store, kConsequence, kHosts, 100ms),
            "rank 2 on host c: left the job early, without an error; last heartbeat at step 12");
}

// The kernel says so long before heartbeats do.
TEST(Explain, a_consequence_names_the_rank_whose_process_has_ended) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat dead(store, 1, 0ms), finished(store, 2, 0ms);
  dead.set_role("server 0");
  dead.beat(12, "");
  finished.finish();
  const EndedRanks ended = [] { return std::vector{2, 1}; };
  EXPECT_EQ(
      explain_failure(*store, kConsequence, kHosts, 1h, {.ended = ended}),
      "server 0 (rank 1) on host b: ended without an error message; last heartbeat at step 12");
  EXPECT_EQ(await_cause(*store, 0, kHosts, {}, 0ms)->rank, 1) << "it is posted";
}

TEST(Explain, a_hurried_consequence_claims_no_cause) {
  const auto store = std::make_shared<MemoryStore>();
  EXPECT_EQ(explain_failure(*store, kConsequence, kHosts, 1h,
                            {.launcher_will_end_rank = [] { return true; }}),
            "rank 0 on host a: was asked to stop before it knew which other "
            "rank has failed: connection to a peer lost");
}

TEST(Explain, a_rank_that_said_why_it_ends_is_not_dead) {
  const auto store = std::make_shared<MemoryStore>();
  post_failure(*store, {1, "b", "connection to a peer lost", true, 3});
  const EndedRanks ended = [] { return std::vector{1}; };
  EXPECT_FALSE(notice_of_killed_rank(*store, kHosts, ended));
  const EndedRanks both = [] { return std::vector{1, 2}; };
  EXPECT_EQ(await_cause(*store, 0, kHosts, both, 0ms)->text,
            "ended without an error message before it began");
}

TEST(Explain, a_consequence_names_the_rank_that_alone_was_asked_to_stop) {
  MemoryStore store;
  post_stop(store, {.rank = 1, .host = "b", .text = "was asked to stop"});
  EXPECT_EQ(stop_notice_of(store, 0), std::nullopt);
  EXPECT_EQ(explain_failure(store, {0, "a", "connection closed", true, 3}, {"a", "b"}, 50ms),
            "rank 1 on host b: was asked to stop");
}

TEST(AwaitCause, names_the_only_rank_that_does_not_answer) {
  MemoryStore store;
  EXPECT_FALSE(await_cause(store, 0, kHosts, {}, 0ms)) << "two are silent";
  const auto mute = await_cause(store, 1, kHosts, {}, 0ms);
  ASSERT_TRUE(mute);
  EXPECT_EQ(mute->rank, 2);
  EXPECT_EQ(mute->text, "did not answer when all ranks were asked to stop before it began");
  EXPECT_EQ(job_failure_cause(store)->rank, 2);
}

// The others work, or lose their connections to the rank that leaves.
TEST(AwaitCause, names_nobody_where_a_rank_alone_is_asked_to_stop) {
  MemoryStore two, three;
  EXPECT_FALSE(await_cause(two, 0, {"a", "b"}, {}, 0ms));
  EXPECT_FALSE(job_failure_cause(two));
  post_failure(three, {1, "b", "connection to a peer lost", true, 3});
  EXPECT_FALSE(await_cause(three, 0, kHosts, {}, 0ms));
  EXPECT_FALSE(job_failure_cause(three));
}

TEST(AwaitCause, knows_that_a_hurried_rank_was_asked_to_stop_as_well) {
  MemoryStore store;
  post_failure(store, {1, "b", "connection to a peer lost", true, 3});
  std::jthread hurried([&] {
    explain_failure(store, kConsequence, kHosts, 1h,
                    {.launcher_will_end_rank = [] { return true; }});
  });
  EXPECT_TRUE(wait_for(store, "failure/asked/0", 10s));
  EXPECT_EQ(await_cause(store, 1, kHosts, {}, 0ms)->rank, 2);
}

TEST(AwaitCause, knows_that_a_rank_which_stops_was_asked_as_well) {
  MemoryStore store;
  post_stop(store, {1, "b", "was asked to stop by SIGTERM", false, 143});
  const auto cause = await_cause(store, 0, kHosts, {}, 0ms);
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->rank, 2);
}

TEST(AwaitCause, accuses_none_of_those_that_are_asked_to_stop) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat(store, 2, 0ms).finish();
  std::jthread other([&] { await_cause(*store, 1, kHosts, {}, 1h); });
  wait_for(*store, "failure/asked/1", 10s);
  EXPECT_FALSE(await_cause(*store, 0, kHosts, {}, 0ms));
  EXPECT_FALSE(job_failure_cause(*store));
  post_failure(*store, kOwn);  // ends the other one's wait
}

TEST(Explain, a_hurried_rank_names_the_only_one_that_does_not_answer) {
  MemoryStore store;
  await_cause(store, 2, kHosts, {}, 0ms);
  EXPECT_EQ(explain_failure(store, kConsequence, kHosts, 1h,
                            {.launcher_will_end_rank = [] { return true; }}),
            "rank 1 on host b: did not answer when all ranks were asked to stop before it began");
}

// Launchers end all ranks once one has ended.
TEST(Printed, no_rank_ends_before_the_cause_is_printed) {
  MemoryStore store;
  std::atomic<bool> printed = false;
  std::jthread printing([&] {
    const auto message = explain_failure(store, kOwn, kHosts, 10s);
    printed = message.has_value();
    announce_printed(store);
  });
  wait_until_printed(store, 1h);
  EXPECT_TRUE(printed);
}

}  // namespace
}  // namespace paceline::launch
