// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline::engines {

/// Threads for works which can only be waited for: Gloo's reduce-scatter, sends
/// and receives have no future and cannot be polled.  There are as many threads
/// as such works were ever in flight at once.
class Waiters {
 public:
  /// Blocks until a work is done; throws where it failed.
  using Wait = std::function<void()>;
  /// Called on a waiter thread; the error is null where the work succeeded.
  using Done = std::function<void(const std::exception_ptr& error)>;

  Waiters() = default;
  /// Joins; works still in flight must end by themselves (the engine's
  /// timeout, or its destruction).
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  void watch(Wait wait, Done done);

 private:
  void run();

  struct Watched {
    Wait wait;
    Done done;
  };
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Watched> waiting_;
  std::size_t idle_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace paceline::engines
