// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/waiters.h"

#include <exception>
#include <fstream>
#include <future>
#include <stdexcept>
#include <system_error>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace paceline::engines {
namespace {

/// As long as it lives a new thread needs a stack of 4 GB, for which this process has no room.
class NoRoomForThreads {
 public:
  NoRoomForThreads() {
    pthread_getattr_default_np(&attributes_);
    pthread_attr_t large = attributes_;
    pthread_attr_setstacksize(&large, kStack);
    pthread_setattr_default_np(&large);
    getrlimit(RLIMIT_AS, &limit_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit less = limit_;
    less.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + kStack / 2;
    setrlimit(RLIMIT_AS, &less);
  }
  ~NoRoomForThreads() {
    setrlimit(RLIMIT_AS, &limit_);
    pthread_setattr_default_np(&attributes_);
    pthread_attr_destroy(&attributes_);
  }
  NoRoomForThreads(const NoRoomForThreads&) = delete;
  NoRoomForThreads& operator=(const NoRoomForThreads&) = delete;

 private:
  static constexpr std::size_t kStack = std::size_t{4} << 30U;
  pthread_attr_t attributes_{};
  rlimit limit_{};
};

TEST(Waiters, TellsHowAWorkEnded) {
  Waiters waiters;
  std::promise<std::exception_ptr> good, bad;
  waiters.watch([] {}, [&](const auto& error) { good.set_value(error); });
  waiters.watch([] { throw std::runtime_error("lost"); },
                [&](const auto& error) { bad.set_value(error); });
  EXPECT_EQ(good.get_future().get(), nullptr);
  EXPECT_NE(bad.get_future().get(), nullptr);
}

TEST(Waiters, CallsNothingWhereNoThreadStarts) {
  bool called = false;
  std::promise<void> done;
  Waiters waiters;
  {
    const NoRoomForThreads limit;
    EXPECT_THROW(waiters.watch([&] { called = true; }, [&](const auto&) { called = true; }),
                 std::system_error);
  }
  waiters.watch([] {}, [&](const auto&) { done.set_value(); });
  done.get_future().get();
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace paceline::engines
