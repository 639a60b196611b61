// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/rank_monitor.h"

#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "launch/memory_store.h"
#include "paceline/base/error.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/signals.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;
using testing::MemoryStore;

// One rank's guard, and the sentence with which it ends its process.
struct Guarded {
  Guarded(const std::shared_ptr<MemoryStore>& store, int rank, std::chrono::milliseconds timeout,
          bool supervised = false, bool rank_0_serves_store = false)
      : heartbeat(std::make_shared<Heartbeat>(store, rank, 0ms)),
        monitor({.store = store,
                 .heartbeat = heartbeat,
                 .rank = rank,
                 .hosts = {"a", "b", "c"},
                 .supervised = supervised,
                 .rank_0_serves_store = rank_0_serves_store,
                 .timeout = timeout,
                 .grace = 50ms,
                 .report_failure =
                     [this](const FailureNotice& cause) { told = failure_message(cause); },
                 .end =
                     [this](const FailureNotice& cause, bool prints) {
                       said.set_value(prints ? failure_message(cause) : told);
                     }}) {}

  std::string message() {
    auto future = said.get_future();
    return future.wait_for(10s) == std::future_status::ready ? future.get() : "nothing";
  }

  std::string told;
  std::promise<std::string> said;
  std::shared_ptr<Heartbeat> heartbeat;
  std::optional<Heartbeat::Hold> hold{std::in_place, *heartbeat, Heartbeat::Hold::For::kWatched};
  RankMonitor monitor;  // last: its thread uses the rest
};

TEST(RankMonitor, rank_0_finds_a_silent_rank_and_all_end) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded zero(store, 0, 2s), one(store, 1, 2s);
  Heartbeat(store, 2, 0ms).beat(5, "all-gather");
  const auto told = zero.message();
  EXPECT_NE(told.find("rank 2 on host c: stopped answering"), std::string::npos) << told;
  EXPECT_NE(told.find("at step 5, all-gather"), std::string::npos) << told;
  EXPECT_EQ(one.message(), "") << "ends, but rank 0 speaks";
}

TEST(RankMonitor, rank_1_watches_rank_0) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded one(store, 1, 2s);
  const auto told = one.message();
  EXPECT_NE(told.find("rank 0 on host a: stopped answering"), std::string::npos) << told;
}

TEST(RankMonitor, a_filed_failure_ends_a_stuck_rank) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded two(store, 2, 1h);
  post_failure(*store, {0, "a", "broken", false, 3});
  EXPECT_EQ(two.message(), "");
}

TEST(RankMonitor, a_lost_store_is_reported_by_rank_1) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded one(store, 1, 1h), two(store, 2, 1h);
  store->vanish();
  EXPECT_EQ(one.message(), "rank 1 on host b: the store is gone");
  EXPECT_EQ(two.message(), "");
}

TEST(RankMonitor, a_store_that_rank_0_served_names_it) {
  EXPECT_EQ(failure_message(lost_store_notice({"a", "b"}, true, "gone")),
            "rank 0 on host a: ended without an error message");
  EXPECT_EQ(failure_message(lost_store_notice({"a", "b"}, false, "gone")),
            "rank 1 on host b: gone");
}

// The threads that send heartbeats need not wait for the grace to be over.
TEST(RankMonitor, a_failure_is_announced_to_all_threads) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded zero(store, 0, 1h);
  Heartbeat two(store, 2, 0ms);
  two.beat(5, "all-gather");
  post_failure(*store, {1, "b", "broken", false, 3});
  EXPECT_EQ(zero.message(), "");
  EXPECT_THROW(two.beat(5, "all-gather"), PeerTimeout);
}

TEST(RankMonitor, a_store_that_does_not_answer_ends_all) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded one(store, 1, 400ms), two(store, 2, 400ms);
  store->stop_answering();
  const auto told = one.message();
  EXPECT_TRUE(told.starts_with("rank 1 on host b: the ranks' store has not answered for ")) << told;
  EXPECT_EQ(two.message(), "");
  store->answer();  // so that the monitors' threads can be joined
}

TEST(RankMonitor, names_its_own_rank_where_the_main_thread_stands_still) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded two(store, 2, 400ms);
  two.heartbeat->beat(-1, "report of case 3");
  two.hold.reset();
  const auto told = two.message();
  EXPECT_TRUE(told.starts_with("rank 2 on host c: the main thread has not moved for ")) << told;
  EXPECT_TRUE(told.ends_with(" s, before its first step, report of case 3")) << told;
  EXPECT_EQ(job_failure_cause(*store)->rank, 2);
}

TEST(RankMonitor, a_wait_for_other_ranks_ends_as_their_consequence) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded two(store, 2, 100ms);
  two.hold.emplace(*two.heartbeat, Heartbeat::Hold::For::kPeers);
  const auto told = two.message();
  EXPECT_TRUE(told.starts_with("rank 2 on host c: the main thread has waited for other ranks for "))
      << told;
  EXPECT_EQ(job_failure_cause(*store), std::nullopt);
  EXPECT_TRUE(failure_notice_of(*store, 2)->consequence);
}

std::jthread keep_beating(Heartbeat& heartbeat) {
  return std::jthread([&heartbeat](const std::stop_token& stopped) {
    while (!stopped.stop_requested()) {
      heartbeat.beat_now(5, "");
      std::this_thread::sleep_for(1ms);
    }
  });
}

// Two ranks wait at the store, and a third one may.
void wait_at_the_store(bool third_waits) {
  const auto store = std::make_shared<MemoryStore>();
  // Supervised, so that they look for no silent rank.
  Guarded zero(store, 0, 50ms, true), one(store, 1, 50ms, true);
  Heartbeat two(store, 2, 0ms);
  std::optional<Heartbeat::Waiting> third;
  if (third_waits) {
    third.emplace(two, "case/0/end");
  }
  const Heartbeat::Waiting first(*zero.heartbeat, "case/0/start");
  const Heartbeat::Waiting second(*one.heartbeat, "case/0/ready/2");
  const std::jthread beats = keep_beating(two);
  const auto deadline = std::chrono::steady_clock::now() + (third_waits ? 10s : 1s);
  while (!job_failure_cause(*store) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(1ms);
  }
  const auto cause = job_failure_cause(*store);
  ASSERT_EQ(cause.has_value(), third_waits);
  if (cause) {
    EXPECT_EQ(cause->text, fmt::format("all ranks have waited for others for more than 0.5 "
                                       "s, this one for '{}'",
                                       cause->rank == 0 ? "case/0/start" : "case/0/ready/2"));
  }
}

TEST(RankMonitor, ends_the_job_where_all_ranks_wait_for_each_other) { wait_at_the_store(true); }

TEST(RankMonitor, lets_ranks_wait_for_one_that_does_not) { wait_at_the_store(false); }

TEST(RankMonitor, names_a_rank_that_alone_was_asked_to_stop) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded zero(store, 0, 400ms);
  post_stop(*store, {.rank = 2, .host = "c", .text = "was asked to stop"});
  EXPECT_EQ(job_failure_cause(*store), std::nullopt);
  Heartbeat one(store, 1, 0ms);
  const std::jthread beats = keep_beating(one);
  EXPECT_EQ(zero.message(), "rank 2 on host c: was asked to stop");
}

const FailureNotice kStopOf0{.rank = 0, .host = "a", .text = "was asked to stop by SIGTERM"};

// Rank 0 serves the store for a while, and is not silent.
TEST(RankMonitor, names_rank_0_that_will_leave_with_the_store) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded one(store, 1, 1h, false, true), two(store, 2, 1h, false, true);
  post_stop(*store, kStopOf0);
  const std::string sentence = failure_message(kStopOf0);
  const std::set<std::string> told{one.message(), two.message()};
  EXPECT_EQ(told, (std::set<std::string>{"", sentence})) << "one of them";
  EXPECT_EQ(job_failure_cause(*store)->text, kStopOf0.text);
}

TEST(RankMonitor, lets_rank_0_leave_where_all_ranks_are_asked_to_stop) {
  const StopSignals asked;
  kill(getpid(), SIGTERM);
  const auto store = std::make_shared<MemoryStore>();
  Guarded one(store, 1, 1h, false, true);
  post_stop(*store, kStopOf0);
  std::this_thread::sleep_for(kStopRequestSpread + 2s);
  EXPECT_EQ(job_failure_cause(*store), std::nullopt);
}

TEST(RankMonitor, a_thread_that_computes_or_beats_stands_not_still) {
  for (const bool computes : {false, true}) {
    const auto store = std::make_shared<MemoryStore>();
    Guarded two(store, 2, 200ms);
    two.hold.reset();
    const auto until = std::chrono::steady_clock::now() + 1s;
    while (std::chrono::steady_clock::now() < until) {
      if (!computes) {
        std::this_thread::sleep_for(1ms);
        two.heartbeat->beat(-1, "waiting for the other ranks");
      }
    }
    two.hold.emplace(*two.heartbeat, Heartbeat::Hold::For::kWatched);
    EXPECT_EQ(job_failure_cause(*store), std::nullopt);
  }
}

TEST(RankMonitor, ends_quietly_with_its_rank) {
  const auto store = std::make_shared<MemoryStore>();
  Guarded zero(store, 0, 1h);
}

}  // namespace
}  // namespace paceline::launch
