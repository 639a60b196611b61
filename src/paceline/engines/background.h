// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"

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

/// Waits for `end`, in which other ranks take part.  Calls `idle` several times
/// a second meanwhile, which shows that the calling thread waits and does not
/// hang.  WorldError after `timeout`; its text begins with `what`, if any.
template <class Future>
void require_within(const Future& end,
                    std::chrono::milliseconds timeout,
                    const std::function<void()>& idle,
                    const std::string& what = "") {
  constexpr std::chrono::milliseconds kTick{50};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (end.wait_for(kTick) != std::future_status::ready) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw WorldError(
          fmt::format("{}{}timed out, a peer did not take part within {:g} s",
                      what,
                      what.empty() ? "" : ": ",
                      std::chrono::duration<double>(timeout).count()));
    }
    if (idle) {
      idle();
    }
  }
}

}  // namespace paceline::engines
