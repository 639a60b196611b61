// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline::engines {

/// Threads for works which can only be waited for: Gloo's reduce-scatter, sends and receives have
/// no future and cannot be polled.  There are as many threads as such works were ever in flight at
/// once.
///
/// Note [Leaving after an error].  A work in flight may wait for a rank that
/// will never answer, and no call ends it.  So where an exception is passing, and the process is
/// about to end, nothing joins a thread that waits for a work, and no backend is destroyed: they
/// are left to the end of the process.
class Waiters {
 public:
  /// Blocks until a work is done; throws where it failed.
  using Wait = std::function<void()>;
  /// Called on a waiter thread; the error is null where the work succeeded.
  using Done = std::function<void(const std::exception_ptr& error)>;

  /// Each thread calls `on_thread_start`, which may be empty, before its first wait; an exception
  /// of it is the error of that work.
  explicit Waiters(std::function<void()> on_thread_start = {});
  /// Waits for the works in flight, or leaves them where an exception is passing: then `wait` and
  /// `done` must own what they use.
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  /// Throws std::system_error, and calls neither, where the thread that it needs cannot start.
  void watch(Wait wait, Done done);

 private:
  struct Watched {
    Wait wait;
    Done done;
  };
  // Outlives the threads that are left.
  struct Queue {
    std::function<void()> on_thread_start;
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Watched> waiting;
    std::size_t idle = 0;
    bool stop = false;
  };

  static void run(Queue& queue);

  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  std::vector<std::thread> threads_;
  int exceptions_before_ = std::uncaught_exceptions();
};

}  // namespace paceline::engines
