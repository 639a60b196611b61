// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/waiters.h"

#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
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
    waiters.watch([] {},
                  [&](const std::exception_ptr&) { second.set_value(); });
  });
  waiters.watch([held = std::move(last)] {}, [](const std::exception_ptr&) {});
  second.get_future().wait();
}

}  // namespace
}  // namespace paceline::engines
