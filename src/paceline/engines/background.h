// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>

namespace paceline::engines {

/// Runs `work` on a thread of its own, which is left behind where nobody waits
/// for the future.
template <class Result>
std::future<Result> run_in_background(std::function<Result()> work) {
  std::packaged_task<Result()> task(std::move(work));
  std::future<Result> end = task.get_future();
  std::thread(std::move(task)).detach();
  return end;
}

/// Whether `end` is there within `timeout`.  Calls `idle` several times a
/// second meanwhile, which shows that the calling thread waits and does not
/// hang.
template <class Future>
bool comes_within(const Future& end,
                  std::chrono::milliseconds timeout,
                  const std::function<void()>& idle) {
  constexpr std::chrono::milliseconds kTick{50};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (end.wait_for(kTick) != std::future_status::ready) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    if (idle) {
      idle();
    }
  }
  return true;
}

}  // namespace paceline::engines
