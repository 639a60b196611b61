// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"

namespace paceline::engines {

/// Runs `work` on a thread of its own.  The thread is detached: it may outlive the future.
template <class Work>
auto run_in_background(Work work) {
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto end = task.get_future();
  std::thread(std::move(task)).detach();
  return end;
}

/// Waits for the result of `end`, to which other ranks contribute, and returns it. While it waits,
/// it calls `idle` several times a second; `idle` usually sends the heartbeat that shows that this
/// thread does not hang. Throws WorldError after `timeout`; its text begins with `what`, unless
/// that is empty.
template <class Future>
auto get_within(Future end, std::chrono::milliseconds timeout, const std::function<void()>& idle,
                const std::string& what = "") {
  constexpr std::chrono::milliseconds kTick{50};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (end.wait_for(kTick) != std::future_status::ready) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw WorldError(fmt::format("{}{}timed out, a peer did not take part within {:g} s", what,
                                   what.empty() ? "" : ": ", to_seconds(timeout)));
    }
    if (idle) {
      idle();
    }
  }
  return end.get();
}

}  // namespace paceline::engines
