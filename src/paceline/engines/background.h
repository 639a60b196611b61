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

/// Runs `work` on a thread of its own, which is left behind where nobody waits for the future.
template <class Work>
auto run_in_background(Work work) {
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto end = task.get_future();
  std::thread(std::move(task)).detach();
  return end;
}

/// The result of `end`, in which other ranks take part.  Calls `idle` several times a second until
/// it is there, which shows that the calling thread does not hang.  WorldError after `timeout`; its
/// text begins with `what`, if any.
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
