// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/event_queue.h"

#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/random.h"

namespace paceline::simulator {
namespace {

using Expected = std::tuple<plan::Picoseconds, std::uint32_t, std::uint32_t>;
using Reference = std::priority_queue<Expected, std::vector<Expected>, std::greater<>>;

class Queues : public testing::TestWithParam<std::uint64_t> {
 protected:
  void push(plan::Picoseconds time) {
    const auto index = static_cast<std::uint32_t>(random_.below(1U << 29U));
    const std::uint32_t sequence = queue_.push(time, EventKind::kKernel, index);
    EXPECT_EQ(sequence, pushed_);
    reference_.emplace(time, pushed_++, index);
  }

  plan::Picoseconds pop() {
    const Expected expected = reference_.top();
    reference_.pop();
    EXPECT_EQ(queue_.next_time(), std::get<0>(expected));
    const Event event = queue_.pop();
    EXPECT_EQ(event.kind(), EventKind::kKernel);
    EXPECT_EQ(std::tuple(event.time, event.sequence, event.index()), expected);
    return event.time;
  }

  EventQueue queue_;
  Reference reference_;
  Random random_{7, 0};
  std::uint32_t pushed_ = 0;
};

// From times that are nearly all equal to times that hardly ever are, and so few or more of them at
// once than runs are kept open for.
TEST_P(Queues, OrderIsThatOfAPriorityQueue) {
  const std::uint64_t spread = GetParam();
  for (const std::size_t waiting : {1, 7, 300, 1000}) {
    plan::Picoseconds now = 0;
    for (int i = 0; i < 5000; ++i) {
      while (reference_.size() < waiting) {
        push(now + static_cast<plan::Picoseconds>(random_.below(spread)));
      }
      for (std::uint64_t n = random_.below(3); n > 0 && !reference_.empty(); --n) {
        now = pop();
      }
    }
    while (!reference_.empty()) {
      pop();
    }
    EXPECT_TRUE(queue_.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Spreads, Queues, testing::Values(1, 2, 10, 100, 5000, 1U << 31U));

// Events of one time in two runs, since other times came between them.
TEST(EventQueue, LaterRunsOfATimeFollowEarlierOnes) {
  EventQueue queue;
  constexpr std::uint32_t kTimes = 1000;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t t = 0; t < kTimes; ++t) {
      queue.push(t, EventKind::kFlow, t);
    }
  }
  for (std::uint32_t t = 0; t < kTimes; ++t) {
    EXPECT_EQ(queue.pop().sequence, t);
    EXPECT_EQ(queue.pop().sequence, kTimes + t);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pushed(), 2 * kTimes);
}

TEST(EventQueue, StartsAnewWhenCleared) {
  EventQueue queue;
  queue.push(5, EventKind::kFlow, 1);
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.push(5, EventKind::kLatency, 2), 0U);
  EXPECT_EQ(queue.pop().index(), 2U);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace paceline::simulator
