// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/key_value_store.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "launch/memory_store.h"
#include "paceline/base/error.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::launch {
namespace {

using std::chrono::milliseconds;
using testing::MemoryStore;

TEST(WaitFor, ReturnsTheValueOrNothingAfterTheTimeout) {
  MemoryStore store;
  EXPECT_EQ(wait_for(store, "key", milliseconds(5)), std::nullopt);
  store.set("key", "value");
  EXPECT_EQ(wait_for(store, "key", milliseconds(0)), "value");
}

TEST(Answers, TellsASilentStoreAndOneThatIsGone) {
  const auto store = std::make_shared<MemoryStore>();
  EXPECT_TRUE(answers(store, std::chrono::seconds(60)));
  store->stop_answering();
  EXPECT_FALSE(answers(store, milliseconds(20)));
  store->vanish();
  store->answer();
  EXPECT_FALSE(answers(store, std::chrono::seconds(60)));
}

TEST(PrefixStore, WaitsForWhatAnotherRankSetsUnderTheSamePrefix) {
  const auto store = std::make_shared<MemoryStore>();
  PrefixStore writer(store, 0, "case/1/");
  PrefixStore reader(store, 1, "case/1/");
  writer.set("done", "");
  EXPECT_EQ(reader.wait("done"), "");
  EXPECT_FALSE(store->get("done"));
  EXPECT_EQ(store->get("case/1/done"), "");
}

TEST(PrefixStore, NoRankPassesABarrierBeforeTheLastHasCome) {
  constexpr int kRanks = 4;
  const auto store = std::make_shared<MemoryStore>();
  std::atomic<int> came = 0;
  std::atomic<int> early = 0;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      PrefixStore own(store, rank, "");
      for (int round = 1; round <= 20; ++round) {
        ++came;
        own.barrier(std::to_string(round), kRanks);
        early += came < round * kRanks ? 1 : 0;
      }
    });
  }
  for (std::thread& rank : ranks) {
    rank.join();
  }
  EXPECT_EQ(early, 0);
}

TEST(PrefixStore, AWaitShowsInTheHeartbeatUntilItEnds) {
  const auto all = std::make_shared<MemoryStore>();
  Heartbeat heartbeat(all, 0);
  PrefixStore store(all, 0, "x/", &heartbeat, [&] {
    if (heartbeat.waited() >= milliseconds(5)) {
      EXPECT_EQ(heartbeat.awaited_key(), "x/key");
      heartbeat.beat_now(3, "");
      all->set("x/key", "value");
    }
  });
  EXPECT_EQ(store.wait("key"), "value");
  EXPECT_GE(read_progress(*all, 0)->waited_ms, 5);
  EXPECT_EQ(heartbeat.waited(), milliseconds(0));
  heartbeat.beat_now(3, "");
  EXPECT_EQ(read_progress(*all, 0)->waited_ms, 0);
}

TEST(PrefixStore, AnExceptionOfIdleEndsAWait) {
  PrefixStore store(std::make_shared<MemoryStore>(), 0, "x/", nullptr,
                    [] { throw UsageError("stop"); });
  EXPECT_THROW(store.wait("key"), UsageError);
}

}  // namespace
}  // namespace paceline::launch
