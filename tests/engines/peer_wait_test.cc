// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/peer_wait.h"

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>

#include <c10/core/impl/FakeGuardImpl.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include "engines/controlled_work.h"
#include "paceline/base/error.h"

namespace paceline::engines {
namespace {

using testing::ControlledWork;

class Peers : public ::testing::TestWithParam<bool> {};

TEST_P(Peers, AWaitingThreadShowsThatItMoves) {
  const auto work = c10::make_intrusive<ControlledWork>(GetParam());
  int moves = 0;
  PeerWait{.idle = [&] {
    if (++moves == 3) {
      work->end();
    }
  }}.wait_for(work);
  EXPECT_GE(moves, 3);
}

TEST_P(Peers, ThrowWhatTheOperationThrows) {
  const auto work = c10::make_intrusive<ControlledWork>(GetParam());
  work->end(std::make_exception_ptr(std::runtime_error("lost")));
  EXPECT_THROW(PeerWait().wait_for(work), std::runtime_error);
}

TEST_P(Peers, AreWaitedForTenTimesTheTimeout) {
  const auto work = c10::make_intrusive<ControlledWork>(GetParam());
  try {
    PeerWait{.timeout = std::chrono::milliseconds(20)}.wait_for(work);
    FAIL() << "ended though no peer took part";
  } catch (const WorldError& error) {
    EXPECT_STREQ(error.what(), "timed out, a peer did not take part within 0.2 s");
  }
  work->end();
}

/// Has no future; says which device the thread that waits for it uses.
class DeviceOfWaiter final : public c10d::Work {
 public:
  bool wait(std::chrono::milliseconds /*timeout*/) override {
    device = c10::impl::VirtualGuardImpl(at::kPrivateUse1).getDevice();
    return true;
  }

  at::Device device{at::kCPU};
};

TEST(PeerWait, WaitsOnAThreadThatUsesTheDeviceOfTheTensors) {
  // Eight devices that do nothing, to the end of the process.
  using Guard = c10::impl::FakeGuardImpl<at::kPrivateUse1>;
  static const Guard guard{};
  static const c10::impl::DeviceGuardImplRegistrar known(at::kPrivateUse1, &guard);
  const at::Device fifth(at::kPrivateUse1, 4);
  const auto work = c10::make_intrusive<DeviceOfWaiter>();
  PeerWait{.device = fifth}.wait_for(work);
  EXPECT_EQ(work->device, fifth);
}

INSTANTIATE_TEST_SUITE_P(Works, Peers, ::testing::Bool(),
                         [](const auto& it) { return it.param ? "WithAFuture" : "WithoutOne"; });

}  // namespace
}  // namespace paceline::engines
