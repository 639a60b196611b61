// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/delayed_call.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace paceline {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(DelayedCall, IsMadeOnce) {
  std::promise<void> called;
  const DelayedCall notice(milliseconds{0}, [&] { called.set_value(); });
  called.get_future().wait();  // a second set_value would throw
}

TEST(DelayedCall, IsNotMadeAfterDestruction) {
  std::atomic<bool> called = false;
  {
    const DelayedCall notice(hours{1}, [&] { called = true; });
  }
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace paceline
