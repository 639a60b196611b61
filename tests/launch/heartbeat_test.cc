// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/heartbeat.h"

#include <thread>

#include <gtest/gtest.h>

#include "launch/memory_store.h"
#include "paceline/launch/failure_detector.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;
using testing::MemoryStore;

TEST(Progress, survives_the_store) {
  const Progress progress{7, 1234, 12, "all-reduce, \"9.4\" MB\n", true};
  EXPECT_EQ(decode_progress(encode(progress)), progress);
  for (const char* text : {"", "[1,2,3]", "{}", "[1,2,3,4,5]", "[1"}) {
    EXPECT_FALSE(decode_progress(text)) << text;
  }
}

TEST(Progress, says_where_a_rank_is) {
  EXPECT_EQ(position_text({1, 0, 12, "all-reduce, 9.4 MB", false}),
            "at step 12, all-reduce, 9.4 MB");
  EXPECT_EQ(position_text({1, 0, -1, "building resnet50", false}),
            "before its first step, building resnet50");
  EXPECT_EQ(position_text({1, 0, 3, "", false}), "at step 3");
  EXPECT_EQ(position_text({1, 0, kNoSteps, "at all-reduce of 64 B", false}),
            "at all-reduce of 64 B");
}

TEST(Heartbeat, posts_at_most_once_an_interval) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat heartbeat(store, 2, 1h);
  for (int step = 0; step < 1000; ++step) {
    heartbeat.beat(step, "forward");
  }
  EXPECT_EQ(store->writes(), 1);
  EXPECT_EQ(read_progress(*store, 2)->step, 0);
  heartbeat.finish();  // is not put off
  EXPECT_TRUE(read_progress(*store, 2)->done);
}

TEST(Heartbeat, fails_once_the_end_of_the_job_is_announced) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat heartbeat(store, 0, 0ms);
  heartbeat.beat(4, "all-reduce");
  announce_end(*store);
  EXPECT_THROW(heartbeat.beat(4, "all-reduce"), PeerTimeout);
  EXPECT_NO_THROW(heartbeat.beat_now(4, "all-reduce"));
  EXPECT_NO_THROW(heartbeat.finish());
}

TEST(Heartbeat, says_at_once_where_it_arrived) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat heartbeat(store, 0, 1h);
  heartbeat.beat_now(kNoSteps, "at all-reduce of 64 B");
  heartbeat.beat_now(kNoSteps, "at all-reduce of 256 B");
  EXPECT_EQ(read_progress(*store, 0)->operation, "at all-reduce of 256 B");
}

TEST(Heartbeat, only_the_claimer_counts_while_there_is_one) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat heartbeat(store, 0, 0ms);
  heartbeat.beat(4, "all-reduce");
  heartbeat.beat_unless_claimed();
  EXPECT_EQ(store->writes(), 2);
  {
    const Heartbeat::Claim claim(heartbeat);
    heartbeat.beat_unless_claimed();
    EXPECT_EQ(store->writes(), 2);
    heartbeat.beat(5, "all-reduce");
    EXPECT_EQ(store->writes(), 3);
  }
  heartbeat.beat_unless_claimed();
  EXPECT_EQ(store->writes(), 4);
  EXPECT_EQ(read_progress(*store, 0)->step, 5) << "repeats what was said";
}

TEST(Heartbeat, needs_a_thread_for_each_claim) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat heartbeat(store, 0, 0ms);
  const auto beat_elsewhere = [&] { std::thread([&] { heartbeat.beat(5, "forward"); }).join(); };
  const Heartbeat::Claim first(heartbeat);
  {
    const Heartbeat::Claim second(heartbeat);
    heartbeat.beat(4, "between steps");
    heartbeat.beat(4, "between steps");
    EXPECT_EQ(store->writes(), 0) << "the other thread may hang";
    beat_elsewhere();
    EXPECT_EQ(store->writes(), 1);
    EXPECT_EQ(read_progress(*store, 0)->operation, "forward");
    beat_elsewhere();
    EXPECT_EQ(store->writes(), 1);
    heartbeat.beat(4, "between steps");
    EXPECT_EQ(store->writes(), 2);
  }
  heartbeat.beat(6, "all-reduce");
  EXPECT_EQ(store->writes(), 3);
}

TEST(Heartbeat, tells_each_thread_of_the_end) {
  const auto store = std::make_shared<MemoryStore>();
  Heartbeat heartbeat(store, 0, 0ms);
  const Heartbeat::Claim first(heartbeat), second(heartbeat);
  announce_end(*store);
  EXPECT_NO_THROW(heartbeat.beat(4, "all-reduce"));
  std::thread([&] { EXPECT_THROW(heartbeat.beat(4, "all-reduce"), PeerTimeout); }).join();
  EXPECT_THROW(heartbeat.beat(4, "all-reduce"), PeerTimeout);
}

class FailureDetection : public ::testing::Test {
 protected:
  void look_at(std::chrono::nanoseconds now) { detector_.poll(*store_, now); }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  Heartbeat zero_{store_, 0, 0ms}, one_{store_, 1, 0ms};
  FailureDetector detector_{{0, 1}, 10s};
};

TEST_F(FailureDetection, finds_the_rank_that_fell_silent) {
  for (auto t = 0s; t <= 12s; t += 2s) {
    zero_.beat(t.count(), "");
    if (t <= 1s) {
      one_.beat(12, "all-reduce, 9.4 MB");
    }
    look_at(t);
  }
  const auto lost = detector_.silent_rank();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->rank, 1);
  EXPECT_EQ(lost->since, 12s);
  EXPECT_EQ(lost->last->operation, "all-reduce, 9.4 MB");
}

TEST_F(FailureDetection, waits_until_the_timeout_is_over) {
  for (auto t = 0s; t <= 10s; t += 2s) {
    look_at(t);
  }
  EXPECT_FALSE(detector_.silent_rank());
  look_at(11s);
  EXPECT_EQ(detector_.silent_rank()->rank, 0) << "never beating is silence, too";
  EXPECT_FALSE(detector_.silent_rank()->last);
}

TEST_F(FailureDetection, its_own_absence_counts_little) {
  look_at(0s);
  look_at(3600s);
  EXPECT_FALSE(detector_.silent_rank());
}

TEST_F(FailureDetection, its_own_absence_counts_little_with_a_short_timeout) {
  FailureDetector detector({0}, 5s);
  detector.poll(*store_, 0s);
  detector.poll(*store_, 12s);
  EXPECT_FALSE(detector.silent_rank());
  detector.poll(*store_, 13s);
  detector.poll(*store_, 14s);
  detector.poll(*store_, 15s);
  EXPECT_FALSE(detector.silent_rank());
  detector.poll(*store_, 16s);
  EXPECT_TRUE(detector.silent_rank()) << "a quarter of 5 s, then 4 s";
}

TEST_F(FailureDetection, ranks_that_ended_are_not_missed) {
  zero_.beat(1, "");
  zero_.finish();
  detector_.remove(1);
  for (auto t = 0s; t <= 30s; t += 2s) {
    look_at(t);
  }
  EXPECT_FALSE(detector_.silent_rank());
}

}  // namespace
}  // namespace paceline::launch
