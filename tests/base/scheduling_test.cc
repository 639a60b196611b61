// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/scheduling.h"

#include <array>
#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paceline {
namespace {

struct Seen {
  int policy = 0;
  std::uint64_t slice_ns = 0;  // 0 before Linux 6.12, which has no slices

  bool operator==(const Seen&) const = default;
};

// Of the calling thread.  The slice is the fourth word of the kernel's sched_attr.
Seen seen() {
  std::array<std::uint64_t, 6> attributes{};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0), 0);
  return {sched_getscheduler(0), attributes[3]};
}

class ScopedSchedulingTest : public ::testing::TestWithParam<Scheduling> {};
INSTANTIATE_TEST_SUITE_P(, ScopedSchedulingTest,
                         ::testing::Values(Scheduling::kShortSlice, Scheduling::kBatch));

TEST_P(ScopedSchedulingTest, IsKeptByThreadsThatBeginMeanwhile) {
  const Seen own = seen();
  if (GetParam() == Scheduling::kShortSlice && own.slice_ns == 0) {
    GTEST_SKIP() << "this kernel has no slices";
  }
  Seen within;
  Seen begun_meanwhile;
  std::thread thread;
  std::promise<void> over;
  {
    const ScopedScheduling scheduling(GetParam());
    within = seen();
    thread = std::thread([&] {
      over.get_future().wait();
      begun_meanwhile = seen();
    });
  }
  EXPECT_EQ(seen(), own);
  over.set_value();
  thread.join();
  EXPECT_EQ(begun_meanwhile, within);
  if (GetParam() == Scheduling::kShortSlice) {
    EXPECT_EQ(within.policy, SCHED_OTHER);
    EXPECT_EQ(within.slice_ns, 100'000);
  } else {
    EXPECT_EQ(within.policy, SCHED_BATCH);
    EXPECT_EQ(within.slice_ns, own.slice_ns);
  }
}

// As where a channel is connected: the inner one is of one thread of many.
TEST(ScopedScheduling, AnInnerOneLeavesTheOuterOne) {
  const ScopedScheduling outer(Scheduling::kShortSlice);
  const Seen before = seen();
  { const ScopedScheduling inner(Scheduling::kBatch); }
  EXPECT_EQ(seen(), before);
}

TEST(ScopedScheduling, ThatChangesNothingLeavesTheOuterOne) {
  for (const Scheduling around : {Scheduling::kShortSlice, Scheduling::kBatch}) {
    const ScopedScheduling outer(around);
    const Seen before = seen();
    {
      const ScopedScheduling inner(Scheduling::kUnchanged);
      EXPECT_EQ(seen(), before);
    }
    EXPECT_EQ(seen(), before);
  }
}

TEST(ScopedScheduling, IsLeftUnchangedForLargeOperations) {
  EXPECT_EQ(scheduling_of(kLargestScheduledBytes, Scheduling::kBatch), Scheduling::kBatch);
  EXPECT_EQ(scheduling_of(kLargestScheduledBytes + 1, Scheduling::kBatch), Scheduling::kUnchanged);
}

}  // namespace
}  // namespace paceline
