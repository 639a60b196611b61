// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/patience.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace paceline {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Patience, SpeaksOnce) {
  std::promise<void> spoken;
  const Patience patience(milliseconds{0}, [&] { spoken.set_value(); });
  spoken.get_future().wait();  // a second set_value would throw
}

TEST(Patience, IsSilentWhereNobodyWaited) {
  std::atomic<bool> spoken = false;
  {
    const Patience patience(hours{1}, [&] { spoken = true; });
  }
  EXPECT_FALSE(spoken);
}

}  // namespace
}  // namespace paceline
