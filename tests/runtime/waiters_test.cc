// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/waiters.h"

#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::engines {
namespace {

TEST(Waiters, ReportsWorksInTheOrderInWhichTheyEnd) {
  std::vector<std::promise<void>> works(3);
  std::vector<std::promise<void>> reports(3);
  std::mutex mutex;
  std::vector<std::size_t> order;
  Waiters waiters;
  for (std::size_t i = 0; i < works.size(); ++i) {
    waiters.watch([&, i] { works[i].get_future().wait(); },
                  [&, i](const std::exception_ptr& error) {
                    EXPECT_EQ(error, nullptr);
                    {
                      const std::lock_guard lock(mutex);
                      order.push_back(i);
                    }
                    reports[i].set_value();
                  });
  }
  const std::vector<std::size_t> ends{2, 0, 1};
  for (const std::size_t i : ends) {
    works[i].set_value();
    reports[i].get_future().wait();
  }
  EXPECT_EQ(order, ends);
}

TEST(Waiters, StartsEachOfItsThreadsOnce) {
  std::mutex mutex;
  std::multiset<std::thread::id> started;
  std::vector<std::promise<void>> here(2);  // of two threads, at once
  {
    Waiters waiters([&] {
      const std::lock_guard lock(mutex);
      started.insert(std::this_thread::get_id());
    });
    for (std::size_t i = 0; i < here.size(); ++i) {
      waiters.watch(
          [&, i] {
            here[i].set_value();
            here[1 - i].get_future().wait();
            const std::lock_guard lock(mutex);
            EXPECT_EQ(started.count(std::this_thread::get_id()), 1U);
          },
          [](const std::exception_ptr&) {});
    }
  }
  EXPECT_EQ(started.size(), 2U);
}

TEST(Waiters, AThreadThatCannotStartIsTheErrorOfItsWork) {
  std::promise<std::exception_ptr> ended;
  Waiters waiters([] { throw std::runtime_error("no device"); });
  waiters.watch([] { FAIL(); }, [&](const std::exception_ptr& error) { ended.set_value(error); });
  EXPECT_THROW(std::rethrow_exception(ended.get_future().get()), std::runtime_error);
}

TEST(Waiters, PassesTheErrorOn) {
  std::promise<std::string> told;
  Waiters waiters;
  waiters.watch([] { throw std::runtime_error("peer closed"); },
                [&](const std::exception_ptr& error) {
                  try {
                    std::rethrow_exception(error);
                  } catch (const std::exception& e) {
                    told.set_value(e.what());
                  }
                });
  EXPECT_EQ(told.get_future().get(), "peer closed");
}

TEST(Waiters, ServesEveryWorkBeforeItEnds) {
  int reported = 0;
  std::mutex mutex;
  {
    Waiters waiters;
    for (int i = 0; i < 50; ++i) {
      waiters.watch([] {},
                    [&](const std::exception_ptr&) {
                      const std::lock_guard lock(mutex);
                      ++reported;
                    });
    }
  }
  EXPECT_EQ(reported, 50);
}

TEST(Waiters, LeavesAWorkInFlightWhereAnExceptionPasses) {
  std::promise<void> work, reported;
  try {
    Waiters waiters;
    waiters.watch([&] { work.get_future().wait(); },
                  [&](const std::exception_ptr&) { reported.set_value(); });
    throw std::runtime_error("a rank was lost");
  } catch (const std::runtime_error&) {
    work.set_value();  // which the waiters did not wait for
  }
  reported.get_future().wait();
}

// What a work holds may come back to the waiters when it is let go of.
TEST(Waiters, LetsGoOfAWorkWithoutALock) {
  std::promise<void> second;
  Waiters waiters;
  std::shared_ptr<int> last(new int(0), [&](const int* number) {
    delete number;
    waiters.watch([] {}, [&](const std::exception_ptr&) { second.set_value(); });
  });
  waiters.watch([held = std::move(last)] {}, [](const std::exception_ptr&) {});
  second.get_future().wait();
}

}  // namespace
}  // namespace paceline::engines
